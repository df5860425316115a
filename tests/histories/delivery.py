"""Golden histories of the check `delivery`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from partywall.harness.observe.history import History
from partywall.harness.plan import Trial

from .faulty import FaultyWorld


def _struck(limited: bool = False, **more: Any) -> History:
    world = FaultyWorld()
    world.struck(**more)
    if limited:
        world.recorder.limited("the wiretap overflowed")
    return world.history


def nothing_struck() -> History:
    """A run under a fault in which no turn was struck."""
    world = FaultyWorld()
    world.recorder._header = _under(world.recorder._header, "exception")
    world.heals()
    return world.history


def in_nobodys_turn() -> History:
    """The fault was taken by a call that is nobody's."""
    world = FaultyWorld()
    world.recorder.faulted("exception", True, None, "call 1")
    return world.history


def no_fault() -> History:
    """Nobody asked for a fault."""
    world = FaultyWorld()
    world.heals()
    return world.history


def no_agent() -> History:
    """A store without an agent asks no model."""
    return FaultyWorld("append_turn", "list_turns").history


def _under(header: Any, fault: str) -> Any:
    return replace(header, trial=Trial("golden", "golden:World", fault))


HISTORIES = {
    "held.taken": _struck,
    "held.normal": lambda: _struck(fault="normal"),
    "inconclusive.never_taken": lambda: _struck(delivered=False),
    "inconclusive.nothing_struck": nothing_struck,
    "inconclusive.in_nobodys_turn": in_nobodys_turn,
    "inconclusive.limit_hit": lambda: _struck(limited=True),
    "not_covered.no_fault": no_fault,
    "not_covered.no_agent": no_agent,
}
