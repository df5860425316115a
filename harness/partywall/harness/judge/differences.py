"""Ten differences between a demo of agent memory and production, each shown by the findings it gives rise to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .bench import checks
from .verdict import Finding, Judgement, Status, worst

_CONTENT = frozenset({"PW101", "PW102", "PW103", "PW104"})
_READS = frozenset({"search", "list", "by-id", "context", "prompt", "reply", "turns", "facts", "artifacts"})


@dataclass(frozen=True, slots=True)
class Difference:
    """One of the ten. A finding shows it whose code is among `codes` and, where any are named, whose channel is among
    `channels`. What is `structural` cannot be put right later: the data lacks what it would take."""

    number: int
    demo: str
    production: str
    codes: frozenset[str]
    channels: frozenset[str] = frozenset()
    structural: bool = False

    def shown_by(self, finding: Finding) -> bool:
        """Whether a finding is an instance of this difference."""
        return finding.code in self.codes and (not self.channels or finding.channel in self.channels)


TEN = (
    Difference(
        1,
        "one dict for all layers",
        "three layers with lives of their own, named by every write",
        frozenset({"PW321"}),
        structural=True,
    ),
    Difference(
        2,
        "scope passed by hand",
        "a scope object that refuses to be incomplete, and makes every filter",
        frozenset({"PW101", "PW102"}),
        _READS,
        structural=True,
    ),
    Difference(
        3,
        "cache key = hash of the input",
        "scope, purpose and fingerprint in every key",
        _CONTENT | {"PW801", "PW802", "PW803", "PW804"},
        frozenset({"cache", "keys", "search"}),
        structural=True,
    ),
    Difference(
        4,
        "no lock, or a lock on the task",
        "a lock on the session, and compare-and-set behind it",
        frozenset({"PW205", "PW206", "PW207", "PW208", "PW209", "PW210", "PW211", "PW212", "PW213"}),
    ),
    Difference(5, "no request dedup", "the request id in the append's transaction", frozenset({"PW203", "PW204"})),
    Difference(
        6,
        "the last N turns of everything",
        "history filtered by task before the last N are taken",
        frozenset({"PW104"}),
        frozenset({"prompt", "context", "reply"}),
    ),
    Difference(
        7,
        "facts overwritten",
        "facts superseded, so that any instant can be asked",
        frozenset({"PW311", "PW312", "PW313", "PW314"}),
    ),
    Difference(
        8,
        "no expiry, or one that slides",
        "three limits, of which activity extends none that is absolute",
        frozenset({"PW301", "PW302"}),
    ),
    Difference(
        9,
        "a log with the request id only",
        "lines that locate tenant, session and task, and name no person",
        frozenset({"PW801", "PW601", "PW602"}),
        frozenset({"keys", "log"}),
    ),
    Difference(
        10,
        "isolation checked by eye",
        "a canary in every session, and a check that looks for it",
        frozenset({"PW902"}),
    ),
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a run says of one difference: the codes of the findings that show it."""

    difference: Difference
    status: Status
    codes: tuple[str, ...]


def differences(judgements: Sequence[Judgement]) -> list[Told]:
    """All ten, as the checks that could show them judged: violated where a finding does."""
    return [_told(each, judgements) for each in TEN]


def _told(difference: Difference, judgements: Sequence[Judgement]) -> Told:
    verdicts = [verdict for judgement in judgements for verdict in judgement.verdicts]
    shown = {finding.code for verdict in verdicts for finding in verdict.findings if difference.shown_by(finding)}
    if shown:
        return Told(difference, Status.VIOLATED, tuple(sorted(shown)))
    able = {check.id for check in checks().values() if check.codes & difference.codes}
    return Told(difference, _quiet(verdict.status for verdict in verdicts if verdict.check in able), ())


def _quiet(statuses: Iterable[Status]) -> Status:
    """The worst of the checks that were put, where none showed the difference itself.

    Where one was violated by another code, what it found may have hidden this: it is no proof that all is well here.
    """
    return worst(Status.INCONCLUSIVE if status is Status.VIOLATED else status for status in statuses)
