"""Golden histories of the check `no_bleed`."""

from __future__ import annotations

from typing import Any

from partywall.canaries import Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .faulty import CHAT, MARK, FaultyWorld
from .world import ANN, OTHER_TENANT


def _healed(*scopes: Scope, limited: bool = False, **more: Any) -> History:
    world = FaultyWorld()
    world.struck(**more)
    world.heals(*scopes)
    if limited:
        world.recorder.limited("the wiretap overflowed")
    return world.history


def kept_in(op: str) -> History:
    """The word of the faulty answer stands in a later listing of its own scope."""
    world = FaultyWorld()
    world.struck()
    world.heals()
    world.read(op, ANN, f"The model said {MARK}.")
    return world.history


def sent_back() -> History:
    """The next prompt of the same session holds the faulty answer."""
    world = FaultyWorld()
    world.struck()
    world.heals(ANN, shown=MARK)
    world.heals(OTHER_TENANT)
    return world.history


def mended() -> History:
    """In the same turn the broken answer is sent back to have it mended: that is no bleed."""
    world = FaultyWorld()
    world.struck(prompts=2, shown=MARK)
    world.heals()
    return world.history


def crossed() -> History:
    """Another tenant is shown the word of the faulty answer."""
    world = FaultyWorld()
    world.struck()
    world.heals()
    world.read("run_turn", OTHER_TENANT, f"The model said {MARK}.", text="hello")
    return world.history


def foreign_context() -> History:
    """The turn after the failed one is another tenant's, and holds what the failed one was asked with."""
    world = FaultyWorld()
    world.struck()
    world.heals(ANN)
    text = f"We have vouchers {world.own[OTHER_TENANT].text} and {world.own[ANN].text}."
    world.asks(OTHER_TENANT, Outcome("ok", {**CHAT, "text": text}))
    return world.history


def blind() -> History:
    """The prompts of the healthy turns afterwards show nothing of their askers'."""
    world = FaultyWorld()
    world.struck()
    for scope in (ANN, OTHER_TENANT):
        probe = world.call("run_turn", scope, Outcome("ok", CHAT), text="hello")
        world.recorder.seen("prompt", "hello", scope.path, probe, "sole")
    return world.history


def no_fault() -> History:
    """Nobody asked for a fault."""
    world = FaultyWorld()
    world.heals()
    return world.history


HISTORIES = {
    "held.gone_with_its_turn": _healed,
    "held.sent_back_in_the_same_turn": mended,
    "violated.PW702-kept_as_a_turn": lambda: kept_in("list_turns"),
    "violated.PW702-kept_as_a_memory": lambda: kept_in("list_memories"),
    "violated.PW702-sent_back": sent_back,
    "violated.PW703-the_word_crossed": crossed,
    "violated.PW703-context_left_to_the_next": foreign_context,
    "inconclusive.no_healthy_turn": lambda: _healed(ANN),
    "inconclusive.no_turn_of_the_same_session": lambda: _healed(OTHER_TENANT),
    "inconclusive.blind": blind,
    "inconclusive.never_taken": lambda: _healed(delivered=False),
    "inconclusive.limit_hit": lambda: _healed(limited=True),
    "not_covered.normal": lambda: _healed(fault="normal"),
    "not_covered.no_fault": no_fault,
}
