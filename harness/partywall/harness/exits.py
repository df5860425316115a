"""Exit codes: public API. Precedence 2, 1, 3, 4, 6, 5: a violation outlives a target that dies later."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from .errors import PartywallError, TargetError, UsageError, unknown
from .judge.verdict import Judgement, Status, worst
from .plan.guarantee import Guarantee


class Exit(IntEnum):
    """What the process says to its caller."""

    HELD = 0
    VIOLATED = 1
    USAGE = 2
    LOST = 3
    INCONCLUSIVE = 4
    NOTHING_COVERED = 5
    THRESHOLD = 6


def exit_of(
    status: Status,
    *,
    problems: Iterable[str] = (),
    failures: Iterable[str] = (),
    missing: Iterable[str] = (),
    allow_inconclusive: bool = False,
) -> Exit:
    """The exit code of a run. `problems` are the caller's, `failures` the target's; `missing` are required
    guarantees that were not held."""
    if list(problems):
        return Exit.USAGE
    if status is Status.VIOLATED:
        return Exit.VIOLATED
    if list(failures):
        return Exit.LOST
    if list(missing):
        return Exit.INCONCLUSIVE
    if status is Status.INCONCLUSIVE:
        return Exit.HELD if allow_inconclusive else Exit.INCONCLUSIVE
    return Exit.NOTHING_COVERED if status is Status.NOT_COVERED else Exit.HELD


def exit_of_error(error: PartywallError) -> Exit:
    """The exit code of an error that ended a command before there was anything to judge."""
    return Exit.LOST if isinstance(error, TargetError) and not isinstance(error, UsageError) else Exit.USAGE


def missing_guarantees(required: Iterable[str], judgements: Iterable[Judgement]) -> tuple[str, ...]:
    """Those of `required` that no check covered, or that some check left inconclusive. UsageError if unknown."""
    known = {guarantee.value: guarantee for guarantee in Guarantee}
    verdicts = [verdict for judgement in judgements for verdict in judgement.verdicts]
    missing = []
    for name in required:
        if name.lower() not in known:
            raise unknown("guarantee", name, known)
        guarantee = known[name.lower()]
        if worst(verdict.status for verdict in verdicts if verdict.guarantee is guarantee) is not Status.HELD:
            missing.append(guarantee.value)
    return tuple(missing)
