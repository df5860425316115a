"""Golden histories of the check `mixing`."""

from __future__ import annotations

from partywall.canaries import Level
from partywall.harness.observe.history import History

from .world import ANN, OTHER_SESSION, OTHER_TASK, World, of_levels


def _listed(*shown: object, limited: bool = False, **capabilities: object) -> History:
    """Two tasks of one session append; the listing shows `shown` of them."""
    world = World("append_turn", "list_turns", **capabilities)
    own = world.turns(ANN, OTHER_TASK)
    world.read("list_turns", ANN, *(own[scope] for scope in shown))  # type: ignore[index]
    if limited:
        world.recorder.limited("list_turns: answer larger than 8,000,000 characters")
    return world.history


def two_sessions() -> History:
    """Two sessions of one task each: there is nothing to be mixed."""
    world = World("append_turn", "list_turns")
    own = world.turns(ANN, OTHER_SESSION)
    for scope in (ANN, OTHER_SESSION):
        world.read("list_turns", scope, own[scope])
    return world.history


def no_listing() -> History:
    """A target without a turn listing has no unfiltered view."""
    world = World("append_turn", "context")
    own = world.turns(ANN, OTHER_TASK)
    world.read("context", ANN, own[ANN])
    return world.history


HISTORIES = {
    "held.the_listing_shows_both_tasks": lambda: _listed(ANN, OTHER_TASK),
    "inconclusive.limit_hit": lambda: _listed(ANN, OTHER_TASK, limited=True),
    "not_covered.tasks_stored_apart": lambda: _listed(ANN),
    "not_covered.no_task_dimension": lambda: _listed(
        ANN, OTHER_TASK, **of_levels(Level.TENANT, Level.USER, Level.SESSION)
    ),
    "not_covered.two_sessions": two_sessions,
    "not_covered.no_listing": no_listing,
}
