"""Golden histories of the check `attribution`."""

from __future__ import annotations

from typing import Any

from partywall.canaries import Scope
from partywall.harness.observe.history import History

from .world import ANN, EVERYTHING, OTHER_TENANT, World


def _asked(
    viewer: Scope | None,
    *,
    conflict: bool = False,
    caught: bool = True,
    limited: bool = False,
    watches: frozenset[str] = frozenset({"prompt"}),
    **capabilities: Any,
) -> History:
    """Ann asks the agent; a prompt is caught and taken for `viewer`'s."""
    world = World(*EVERYTHING, watches=watches, **capabilities)
    own = world.turns(ANN, OTHER_TENANT)
    probe = world.read("run_turn", ANN, own[ANN], text="hello")
    if caught:
        path = viewer.path if viewer else None
        how = "tag p3, flight p4" if conflict else "sole flight"
        world.recorder.seen("prompt", f"history: {own[ANN].text}", path, probe, how, conflict)
    if limited:
        world.recorder.limited("the wiretap overflowed")
    return world.history


def never_asked() -> History:
    """Prompts are watched and nobody asked the agent anything."""
    world = World(watches=frozenset({"prompt"}))
    own = world.turns(ANN)
    world.read("list_turns", ANN, own[ANN])
    return world.history


def no_agent() -> History:
    """A store without an agent builds no prompt."""
    world = World("append_turn", "list_turns")
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.the_prompt_is_the_askers": lambda: _asked(ANN),
    "violated.PW109-two-marks": lambda: _asked(ANN, conflict=True),
    "inconclusive.nothing_caught": lambda: _asked(None, caught=False),
    "inconclusive.nobodys_prompt": lambda: _asked(None),
    "inconclusive.limit_hit": lambda: _asked(ANN, limited=True),
    "not_covered.not_watched": lambda: _asked(None, caught=False, watches=frozenset()),
    "not_covered.never_asked": never_asked,
    "not_covered.no_agent": no_agent,
}
