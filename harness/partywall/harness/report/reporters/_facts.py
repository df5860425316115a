"""Facts that several reporters tell: marks, the matrix by boundary, kinds of findings, controls, what a run means."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...catalogue import CODES
from ...judge.verdict import Status, worst
from ...observe.history import History
from ..build import merged
from ..results import AssuranceRecord, CellRecord, ControlRecord, FindingRecord, Results

MARKS = {Status.HELD: "✔", Status.VIOLATED: "✘", Status.INCONCLUSIVE: "?", Status.NOT_COVERED: "–"}
WORDS = {
    Status.HELD: "HELD",
    Status.VIOLATED: "VIOLATED",
    Status.INCONCLUSIVE: "INCONCLUSIVE",
    Status.NOT_COVERED: "NOT COVERED",
}
BOUNDARIES = ("tenant", "user", "session", "task")
EXITS = {
    0: "every guarantee that was covered held",
    1: "a guarantee was violated",
    2: "usage or configuration",
    3: "the target could not be reached, or the harness failed",
    4: "nothing was seen to leak, and not enough was seen to say that nothing leaks",
    5: "nothing was covered",
    6: "a load or availability threshold was broken while isolation held",
}


_ALLOWED = {
    Status.INCONCLUSIVE: "inconclusive, which was allowed",
    Status.VIOLATED: "violated as the baseline knows it",
    Status.NOT_COVERED: "nothing was covered, which was allowed",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """Findings of one fingerprint: the first of them, how many there are, and the trials they came from."""

    first: FindingRecord
    count: int
    trials: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One boundary of the matrix: its worst status, and the cells that were tried by channel."""

    boundary: str
    status: Status
    cells: dict[str, tuple[CellRecord, ...]]

    def channel(self, name: str) -> Status:
        """The worst status over the carriers of one channel."""
        return worst(Status(cell.status) for cell in self.cells.get(name, ()))


def kinds(results: Results) -> list[Kind]:
    """Findings by fingerprint, in the order in which each was first seen."""
    found: dict[str, list[FindingRecord]] = {}
    for verdict in results.verdicts:
        for finding in verdict.findings:
            found.setdefault(finding.fingerprint, []).append(finding)
    return [
        Kind(group[0], len(group), tuple(dict.fromkeys(finding.trial for finding in group))) for group in found.values()
    ]


def rows(results: Results) -> list[Row]:
    """The matrix, outermost boundary first."""
    found: dict[str, dict[str, list[CellRecord]]] = {}
    for cell in results.matrix:
        found.setdefault(cell.boundary, {}).setdefault(cell.channel, []).append(cell)
    known = [*(name for name in BOUNDARIES if name in found), *(name for name in found if name not in BOUNDARIES)]
    return [
        Row(
            name,
            worst(Status(cell.status) for cells in found[name].values() for cell in cells),
            {channel: tuple(cells) for channel, cells in found[name].items()},
        )
        for name in known
    ]


def channels(results: Results) -> list[str]:
    """The channels of the matrix, in the order in which they stand there."""
    return list(dict.fromkeys(cell.channel for cell in results.matrix))


def carriers(cells: Iterable[CellRecord]) -> list[str]:
    """What violated cells wore, where it was a dress."""
    return [cell.carrier for cell in cells if Status(cell.status) is Status.VIOLATED and cell.carrier != "plain"]


def controls(results: Results) -> tuple[list[ControlRecord], list[ControlRecord]]:
    """All positive controls of the run, and those that failed."""
    every = [control for verdict in results.verdicts for control in verdict.controls]
    return every, [control for control in every if not control.passed]


def inconclusive(results: Results) -> list[tuple[str, str]]:
    """Checks that could not decide, with the reason."""
    return [(check, reason) for check, (status, reason) in merged(results).items() if status is Status.INCONCLUSIVE]


def title(code: str) -> str:
    """The title of a finding code."""
    return CODES[code].title if code in CODES else "a code this version does not know"


def exit_meaning(results: Results) -> str:
    """What the exit code says of this run."""
    allowed = _ALLOWED.get(Status(results.status)) if results.exit_code == 0 else None
    if allowed:
        return allowed
    return EXITS.get(results.exit_code, "unknown")


def replay(trial: str) -> str:
    """The command that runs a trial again, quoted for a POSIX shell."""
    return f"partywall replay {shlex.quote(trial)}"


def explain(code: str) -> str:
    """The command that says what a code means."""
    return f"partywall explain {shlex.quote(code)}"


def widest(results: Results) -> AssuranceRecord | None:
    """The weakest statement of the run: the one with the highest upper bound."""
    return max(results.assurance, key=lambda record: record.upper, default=None)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 violation`, `2 violations`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """A share as people read it, in two digits: `0.73 %`."""
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def population(histories: Sequence[History]) -> str:
    """Who took part, as `4 tenants × 2 users × 2 sessions × 2 tasks, 212 canaries sown`; empty without a history.

    Users are counted in the tenant that has most of them, and so on inwards.
    """
    if not histories:
        return ""
    paths = {entry.scope for history in histories for entry in history.invocations.values()}
    sown = {entry.canary.text for history in histories for entry in history.sown}
    counts = []
    for depth, name in enumerate(BOUNDARIES):
        members: dict[tuple[str | None, ...], set[str]] = {}
        for path in paths:
            if own := path[depth]:
                members.setdefault(path[:depth], set()).add(own)
        most = max(map(len, members.values()), default=0)
        if most:
            counts.append(counted(most, name))
    return f"{' × '.join(counts) or 'no scopes'}, {counted(len(sown), 'canary', 'canaries')} sown"
