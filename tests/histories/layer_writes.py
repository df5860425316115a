"""Golden histories of the check `layer_writes`."""

from __future__ import annotations

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, World

_OPERATIONS = (*EVERYTHING, "metrics")
TURNS = 12


def _told(session: int, task: int, user: int) -> str:
    counts = {"session": session, "task": task, "user": user}
    return "\n".join(f'partywall_layer_writes_total{{layer="{layer}"}} {n}.0' for layer, n in counts.items())


def _counted(
    session: int, task: int, user: int, *, memories: int = 0, before: str = _told(7, 3, 2), limited: bool = False
) -> History:
    """Twelve turns, one fact of the user's, and some memories; so many writes more are counted afterwards."""
    world = World(*_OPERATIONS)
    world.call("metrics", ANN, Outcome("ok", before))
    for _ in range(TURNS):
        world.write("append_turn", ANN)
    world.write("put_fact", ANN, layer="user", key="report_template")
    for number in range(memories):
        world.write("add_memory", ANN, outcome=Outcome("ok", f"m{number}"))
    world.call("metrics", ANN, Outcome("ok", _told(7 + session, 3 + task, 2 + user)))
    if limited:
        world.recorder.limited("metrics: answer larger than 8,000,000 characters")
    return world.history


def one_view() -> History:
    """Nobody read the counts before."""
    world = World(*_OPERATIONS)
    world.turns(ANN)
    world.call("metrics", ANN, Outcome("ok", _told(1, 0, 0)))
    return world.history


def no_view() -> History:
    """The target shows no metrics."""
    world = World()
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.as_asked": lambda: _counted(TURNS, 0, 1),
    "held.a_turn_is_two_writes": lambda: _counted(2 * TURNS, TURNS, 3),
    "held.turns_are_not_counted": lambda: _counted(0, 3, 1),
    "violated.PW322-every_turn_promoted": lambda: _counted(TURNS, 0, TURNS),
    "inconclusive.nothing_counted": lambda: _counted(0, 0, 0),
    "inconclusive.limit_hit": lambda: _counted(TURNS, 0, 1, limited=True),
    "not_covered.asked_to_write_much_of_the_users": lambda: _counted(TURNS, 0, 20, memories=8),
    "not_covered.counts_nothing_by_layer": lambda: _counted(TURNS, 0, 1, before="requests_total 7"),
    "not_covered.one_view": one_view,
    "not_covered.no_view": no_view,
}
