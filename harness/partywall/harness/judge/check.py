"""Check: a pure function from a history to a verdict, and the only way to build its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..observe.history import History
from ..plan.guarantee import Guarantee
from .verdict import Cell, Control, Finding, Status, Verdict


@dataclass(frozen=True, slots=True)
class Check:
    """One question put to every history.

    `needs` are operations (or alternatives, `append_turn | run_turn`) without which it cannot be put; `codes`
    are the finding codes it may give.
    """

    id: str
    title: str
    guarantee: Guarantee
    codes: frozenset[str]
    needs: frozenset[str]
    judge: Callable[[History], Verdict]


def conclude(
    check: str,
    guarantee: Guarantee,
    findings: Sequence[Finding],
    controls: Sequence[Control],
    *,
    cells: Sequence[Cell] = (),
    covered: bool = True,
    reason: str = "",
    checked: int = 0,
    total: int = 0,
) -> Verdict:
    """The verdict that findings and controls amount to.

    A finding outweighs a failed control: a leak was seen, however blind the rest was. Without a finding, no
    control or a failed one is INCONCLUSIVE, never HELD: silence proves nothing where nothing could be heard.
    `covered=False` says that the history does not try this at all.
    """
    failed = [control for control in controls if not control.passed]
    if findings:
        status, reason = Status.VIOLATED, ""
    elif not covered:
        status, controls, failed = Status.NOT_COVERED, (), []
    elif failed or not controls:
        status = Status.INCONCLUSIVE
        reason = reason or (
            "control failed: " + "; ".join(f"{control.name}: {control.detail}" for control in failed[:8])
            if failed
            else "no control was possible"
        )
    else:
        status = Status.HELD
    return Verdict(check, guarantee, status, reason, tuple(findings), tuple(controls), tuple(cells), (), checked, total)
