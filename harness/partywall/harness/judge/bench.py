"""Bench: every check sits over every history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..observe.history import History
from ..plan.operation import lacking
from ..registry import discover
from .check import Check
from .verdict import Judgement, Status, Verdict


def checks() -> dict[str, Check]:
    """All known checks by id."""
    return discover("partywall.harness.judge.checks", "CHECK", "partywall.checks")


def judge(history: History, using: Iterable[Check] | None = None) -> Judgement:
    """Put every check to one history. Never raises: a crashed check is INCONCLUSIVE and says so."""
    verdicts = tuple(_verdict(check, history) for check in (using if using is not None else checks().values()))
    counts = {
        "probes": len(history.invocations),
        "observations_checked": max((verdict.checked for verdict in verdicts), default=0),
        "observations_total": max((verdict.total for verdict in verdicts), default=0),
    }
    return Judgement(history.header.trial, verdicts, history.header.world, counts)


def _verdict(check: Check, history: History) -> Verdict:
    try:
        missing = lacking(check.needs, history.offers)
        if missing:
            reason = f"the target lacks {', '.join(missing)}"
            return Verdict(check.id, check.guarantee, Status.NOT_COVERED, reason, needs=missing)
        verdict = check.judge(history)
    except Exception as error:  # a check is a plug-in: its crash says nothing about the target
        reason = f"the check crashed: {type(error).__name__}: {error}"
        return Verdict(check.id, check.guarantee, Status.INCONCLUSIVE, reason)
    return _limited(verdict, history.limits[0].what) if history.limits else verdict


def _limited(verdict: Verdict, what: str) -> Verdict:
    """Nothing is held beside a limit, no cell either: a leak may stand in the part that was kept from being read."""
    cells = tuple(
        replace(cell, status=Status.INCONCLUSIVE) if cell.status is Status.HELD else cell for cell in verdict.cells
    )
    if verdict.status is not Status.HELD:
        return replace(verdict, cells=cells)
    return replace(verdict, status=Status.INCONCLUSIVE, reason=f"a limit was hit: {what}", cells=cells)
