"""Golden histories of the check `typed_failure`."""

from __future__ import annotations

from typing import Any

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .faulty import CHAT, DEGRADED, FELL_OVER, LATE, MARK, REFUSED, SAID, UNAVAILABLE, FaultyWorld


def _answered(value: Any, **more: Any) -> History:
    return _ended(Outcome("ok", value), **more)


def _ended(outcome: Outcome, limited: bool = False, **more: Any) -> History:
    world = FaultyWorld()
    world.struck(outcome, **more)
    if limited:
        world.recorder.limited("the wiretap overflowed")
    return world.history


def no_fault() -> History:
    """Nobody asked for a fault."""
    world = FaultyWorld()
    world.heals()
    return world.history


HISTORIES = {
    "held.degraded": lambda: _answered(DEGRADED),
    "held.llm_not_used": lambda: _answered({"text": "By the rules: no.", "llm_used": False}),
    "held.refused": lambda: _ended(REFUSED),
    "held.unavailable": lambda: _ended(UNAVAILABLE),
    "held.a_retry_got_through": lambda: _answered(CHAT, prompts=2, attempts=1),
    "held.the_secret_was_cut_out": lambda: _answered(CHAT, fault="sensitive-echo"),
    "violated.PW706-claims_success": lambda: _answered(CHAT),
    "violated.PW706-answered_with_nothing": lambda: _answered({"text": " \n"}),
    "violated.PW706-raw_faulty_text": lambda: _answered({**DEGRADED, "text": f"The model said {SAID}"}),
    "violated.PW706-faulty_text_beside_the_words": lambda: _answered({**DEGRADED, "detail": [MARK]}),
    "violated.PW707-fell_over": lambda: _ended(FELL_OVER),
    "inconclusive.plain_words": lambda: _answered("All is well."),
    "inconclusive.no_end_in_time": lambda: _ended(LATE),
    "inconclusive.never_taken": lambda: _answered(DEGRADED, delivered=False),
    "inconclusive.limit_hit": lambda: _answered(DEGRADED, limited=True),
    "not_covered.normal": lambda: _answered(CHAT, fault="normal"),
    "not_covered.no_fault": no_fault,
}
