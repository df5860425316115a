"""Tally: what has been seen and found, and what that amounts to."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..judge.check import conclude
from ..judge.verdict import Control, Finding, Verdict
from ..plan.guarantee import Guarantee

KINDS = ("own", "foreign", "imported", "damaged")
REASONS = (
    "not_json",
    "not_an_object",
    "too_deep",
    "too_long",
    "unattributed",
    "binary",
    "encoded",
    "dropped",
    "budget",
    "error",
)
SECONDS = (0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Upper bounds of the buckets of `durations`."""
_SAVED = ("seen", "sampled", "attributed", "lost", "limited", "errors")
_COUNTED = ("checked", "skipped", "violations", "canaries")


@dataclass(slots=True)
class Tally:
    """Counts of one batch, of one run, or of a process; batches are added once their findings are stored.

    `lost` counts records with a canary that were nobody's, so that it may have been anybody's leak; `attributed` those
    that were somebody's; `sampled` the deep looks at these; `limited` records in which a bound was hit.
    """

    seen: int = 0
    attributed: int = 0
    sampled: int = 0
    lost: int = 0
    limited: int = 0
    errors: int = 0
    checked: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    canaries: Counter[str] = field(default_factory=Counter)
    durations: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    seconds: float = 0.0
    selftest_at: float = 0.0

    @property
    def flowed(self) -> int:
        """How many genuine canaries went by."""
        return self.canaries["own"] + self.canaries["foreign"] + self.canaries["imported"]

    def add(self, other: Tally) -> None:
        """Count what `other` has counted."""
        for name in _SAVED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _COUNTED:
            getattr(self, name).update(getattr(other, name))
        self.durations = [ours + theirs for ours, theirs in zip(self.durations, other.durations, strict=True)]
        self.seconds += other.seconds
        self.selftest_at = max(self.selftest_at, other.selftest_at)

    def took(self, seconds: float, records: int = 1) -> None:
        """Checking so many records took so long each."""
        self.durations[bisect_left(SECONDS, seconds)] += records
        self.seconds += seconds * records

    def to_record(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {name: getattr(self, name) for name in _SAVED} | {name: dict(getattr(self, name)) for name in _COUNTED}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Tally:
        """The tally that `to_record` wrote."""
        tally = cls()
        for name in _SAVED:
            setattr(tally, name, int(record.get(name, 0)))
        for name in _COUNTED:
            getattr(tally, name).update(dict(record.get(name, {})))
        return tally

    def to_wire(self) -> dict[str, Any]:
        """Every count, durations included, as plain data."""
        whole = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: dict(value) if isinstance(value, Counter) else value for name, value in whole.items()}

    @classmethod
    def from_wire(cls, record: Mapping[str, Any]) -> Tally:
        """The tally that `to_wire` wrote."""
        tally = cls()
        for name, value in record.items():
            setattr(tally, name, Counter(value) if name in _COUNTED else value)
        return tally

    def verdict(self, findings: tuple[Finding, ...] = ()) -> Verdict:
        """What the tally amounts to, by the judge's own arithmetic: no finding is HELD only if its controls passed.

        The control in production is that canaries flow and that the detector finds a planted leak; without them
        silence is INCONCLUSIVE, never green.
        """
        controls = [
            Control("a canary has flowed", "", self.flowed > 0, "none has, so nothing could have been found"),
            Control("a planted leak was found", "", self.selftest_at > 0, "the self-test did not find it"),
            Control("every canary was in somebody's record", "", not self.lost, f"{self.lost} were in nobody's"),
            Control("every record was scanned whole", "", not self.limited, f"{self.limited} hit a bound"),
            Control("every check ended", "", not self.errors, f"{self.errors} failed"),
        ]
        return conclude("watch", Guarantee.ISOLATION, findings, controls, checked=self.checked["1"], total=self.seen)
