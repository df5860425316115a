"""Golden histories of the check `no_effect`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .faulty import CHAT, FaultyWorld
from .unblocked import StalledWorld
from .world import ANN, OTHER_TENANT, OTHER_USER

Change = Callable[[FaultyWorld], None]


def _changed(change: Change = lambda world: None, limited: bool = False, **more: Any) -> History:
    """A look, a struck turn in which `change` happens, a look."""
    world = FaultyWorld()
    world.looks()
    world.struck(**more)
    change(world)
    world.looks()
    if limited:
        world.recorder.limited("the wiretap overflowed")
    return world.history


def _deleted(world: FaultyWorld) -> None:
    world.stored.clear()


def _added(world: FaultyWorld) -> None:
    world.stored.append({"id": "m2", "text": "note"})


def _noted(world: FaultyWorld) -> None:
    world.ledger.append({"tool": "delete_memory", "count": 3})


def _scored(world: FaultyWorld) -> None:
    world.stored[0] = {**world.stored[0], "last_used": 17, "score": 0.3}


def _written(world: FaultyWorld) -> None:
    _added(world)
    world.write("add_memory", ANN)


def _neighbour(world: FaultyWorld) -> None:
    world.write("add_memory", OTHER_USER)


def never_looked() -> History:
    """Nobody looked at what is stored before the struck turn."""
    world = FaultyWorld()
    world.struck()
    world.looks()
    return world.history


def always_empty() -> History:
    """The list was empty before and after: it may be one that shows nothing."""
    world = FaultyWorld()
    world.stored.clear()
    world.looks()
    world.struck()
    world.looks()
    return world.history


def beside_another() -> History:
    """Another tenant's healthy turn runs in between; it may have added to the ledger of all."""
    world = FaultyWorld()
    world.looks()
    world.struck()
    world.asks(OTHER_TENANT, Outcome("ok", CHAT))
    world.ledger.append({"tool": "remember", "count": 1})
    world.looks()
    return world.history


def beside_a_write() -> History:
    """The user's other client adds a memory while the struck turn runs: whose effect it is cannot be said."""
    world = StalledWorld()
    world.looks()
    turn = world.asks_the_model()
    world.ends(world.sends("append_turn", ANN))
    world.stored.append({"id": "m2", "text": "distilled from what was said"})
    world.gives_up(turn)
    world.looks()
    return world.history


def no_fault() -> History:
    """Nobody asked for a fault."""
    world = FaultyWorld()
    world.looks()
    world.heals()
    world.looks()
    return world.history


HISTORIES = {
    "held.nothing_changed": _changed,
    "held.a_score_is_no_content": lambda: _changed(_scored),
    "held.a_neighbours_write": lambda: _changed(_neighbour),
    "held.beside_another_tenants_turn": beside_another,
    "violated.PW701-memories_deleted": lambda: _changed(_deleted),
    "violated.PW701-memory_added": lambda: _changed(_added),
    "violated.PW701-a_tool_acted": lambda: _changed(_noted),
    "inconclusive.a_write_in_between": lambda: _changed(_written),
    "inconclusive.never_looked": never_looked,
    "inconclusive.always_empty": always_empty,
    "inconclusive.never_taken": lambda: _changed(delivered=False),
    "inconclusive.limit_hit": lambda: _changed(limited=True),
    "not_covered.a_retry_got_through": lambda: _changed(_added, prompts=2, attempts=1),
    "not_covered.its_user_wrote_beside_it": beside_a_write,
    "not_covered.normal": lambda: _changed(_added, fault="normal"),
    "not_covered.no_fault": no_fault,
}
