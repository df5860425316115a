"""Verdict: held, inconclusive, violated or not covered; and what it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..plan.guarantee import Guarantee
from ..plan.trial import Trial


class Status(StrEnum):
    """Values as files write them."""

    HELD = "held"
    INCONCLUSIVE = "inconclusive"
    VIOLATED = "violated"
    NOT_COVERED = "not_covered"


_ORDER = (Status.HELD, Status.INCONCLUSIVE, Status.VIOLATED)


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of the covered ones; NOT_COVERED stands beside the order and wins only where nothing else is."""
    covered = [status for status in statuses if status is not Status.NOT_COVERED]
    return max(covered, key=_ORDER.index, default=Status.NOT_COVERED)


@dataclass(frozen=True, slots=True)
class Control:
    """A positive control: something that had to succeed through the same channel in the same run.

    A target that denies or drops everything passes every negative check; it cannot pass its controls.
    """

    name: str
    channel: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where one sighting stands: the probe, the place in its answer, the text around it (redacted)."""

    probe: str
    op: str
    place: str
    excerpt: str
    decoded: tuple[str, ...] = ()
    canary: str = ""
    planted_by: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of violation. `fingerprint` names it across runs: no tenant id and no seed goes into it."""

    code: str
    guarantee: Guarantee
    claim: str
    boundary: str
    owner: str
    observer: str
    channel: str
    fingerprint: str
    carrier: str = "plain"
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of the matrix: what crossed `boundary` by `channel`, wearing `carrier`."""

    boundary: str
    channel: str
    carrier: str
    status: Status
    control: bool

    def __post_init__(self) -> None:
        if self.status is Status.HELD and not self.control:
            raise ValueError(f"cell {self.boundary}/{self.channel} cannot be held without its control")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check says of one history.

    It cannot be built as HELD without a control, with a failed one, or beside a finding; nor as VIOLATED
    without a finding: ValueError.
    """

    check: str
    guarantee: Guarantee
    status: Status
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    controls: tuple[Control, ...] = ()
    cells: tuple[Cell, ...] = ()
    needs: tuple[str, ...] = ()
    checked: int = 0
    total: int = 0

    def __post_init__(self) -> None:
        if self.status is Status.HELD:
            if not self.controls:
                raise ValueError(f"check {self.check!r} cannot be held without a control")
            failed = [control.name for control in self.controls if not control.passed]
            if failed:
                raise ValueError(f"check {self.check!r} cannot be held: control failed: {', '.join(failed)}")
        if (self.status is Status.VIOLATED) != bool(self.findings):
            raise ValueError(f"check {self.check!r} is violated if and only if it has findings")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What every check says of one history."""

    trial: Trial
    verdicts: tuple[Verdict, ...]
    world: str = "main"
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        """The worst verdict."""
        return worst(verdict.status for verdict in self.verdicts)
