"""Golden histories of the check `existence`."""

from __future__ import annotations

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, OTHER_TENANT, World

_MISSING = Outcome("fail", reason="no such memory", code="not_found")


def _asked(of_nobody: Outcome, of_another: Outcome, *, limited: bool = False) -> History:
    """Zeta asks for a memory that never was, then for ann's, by their ids."""
    world = World()
    world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    nobody = world.call("get_memory", OTHER_TENANT, of_nobody, memory_id="m7000003")
    world.call("get_memory", OTHER_TENANT, of_another, memory_id="m1", twin=nobody)
    if limited:
        world.recorder.limited("list_turns: answer larger than 8,000,000 characters")
    return world.history


def leak_is_judged_elsewhere() -> History:
    """The stranger was shown the memory itself: that is a leak, and no fainter signal beside it."""
    world = World()
    mine = world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    nobody = world.call("get_memory", OTHER_TENANT, _MISSING, memory_id="m7000003")
    world.call("get_memory", OTHER_TENANT, Outcome("ok", mine.text), memory_id="m1", twin=nobody)
    return world.history


def nobody_asked() -> History:
    """Nobody asked for what never was."""
    world = World()
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.both_missing": lambda: _asked(_MISSING, _MISSING),
    "held.both_empty": lambda: _asked(Outcome("ok", None), Outcome("ok", None)),
    "held.answers_echo_the_id": lambda: _asked(
        Outcome("fail", reason="no memory m7000003", code="not_found"),
        Outcome("fail", reason="no memory m1", code="not_found"),
    ),
    "held.leak_is_judged_elsewhere": leak_is_judged_elsewhere,
    "violated.PW107-denied-or-missing": lambda: _asked(
        _MISSING, Outcome("fail", reason="no such memory", code="denied")
    ),
    "violated.PW107-words": lambda: _asked(
        _MISSING, Outcome("fail", reason="this memory is not yours", code="not_found")
    ),
    "violated.PW107-empty-or-refused": lambda: _asked(Outcome("ok", None), _MISSING),
    "inconclusive.answer_lost": lambda: _asked(
        _MISSING, Outcome("info", reason="no answer within 10 s", code="timeout")
    ),
    "inconclusive.limit_hit": lambda: _asked(_MISSING, _MISSING, limited=True),
    "not_covered.nobody_asked": nobody_asked,
}
