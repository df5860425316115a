"""Golden histories of the check `bounded`."""

from __future__ import annotations

from typing import Any

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .faulty import LATE, FaultyWorld


def _struck(outcome: Outcome | None = None, limited: bool = False, **more: Any) -> History:
    world = FaultyWorld()
    world.struck(outcome, **more)
    if limited:
        world.recorder.limited("the wiretap overflowed")
    return world.history


def rounds() -> History:
    """Five model calls of one turn, each with a prompt of its own: rounds, and no retries."""
    world = FaultyWorld()
    probe = world.struck(prompts=1)
    for number in range(4):
        world.recorder.seen("prompt", f"round {number}", None, probe, "sole")
    return world.history


def no_fault() -> History:
    """Nobody asked for a fault."""
    world = FaultyWorld()
    world.heals()
    return world.history


HISTORIES = {
    "held.three_attempts": lambda: _struck(prompts=3),
    "held.rounds_are_no_retries": rounds,
    "violated.PW704-four_attempts": lambda: _struck(prompts=4),
    "violated.PW705-past_the_deadline": lambda: _struck(LATE),
    "inconclusive.never_taken": lambda: _struck(delivered=False),
    "inconclusive.no_prompt_caught": lambda: _struck(prompts=0, attempts=1),
    "inconclusive.limit_hit": lambda: _struck(limited=True),
    "not_covered.normal": lambda: _struck(fault="normal"),
    "not_covered.no_fault": no_fault,
}
