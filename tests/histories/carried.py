"""Golden histories of the check `carried`."""

from __future__ import annotations

from partywall.canaries import Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .aged import OPERATIONS, AgedWorld
from .world import ANN, OTHER_SESSION, World

BESIDE = Scope("acme", "ann", "s2", "k2")
FOUNDED = Outcome("ok", "s2")
INVALID = Outcome("fail", reason="nothing is carried here", code="invalid")


def _carried(
    *,
    shown: bool = True,
    looks_before: bool = True,
    viewer: Scope = OTHER_SESSION,
    outcome: Outcome = FOUNDED,
    deleted: bool = False,
    limited: bool = False,
) -> History:
    """A conclusion of a task, and a remark of the session, are shown there; a second session goes on from it."""
    world = AgedWorld(*OPERATIONS, "delete_fact")
    world.opens(ANN)
    fact = world.write("put_fact", ANN, layer="task", key="conclusion")
    remark = world.write("put_fact", ANN, layer="session", key="remark")
    if looks_before:
        world.read("list_facts", ANN, fact, remark)
    if deleted:
        world.call("delete_fact", ANN, Outcome("ok"), key="conclusion")
        world.read("list_facts", ANN)
    world.call("create_session", OTHER_SESSION, outcome, carry_from="s1")
    world.read("list_facts", viewer, *([fact] if shown else []))
    if limited:
        world.cut_short()
    return world.history


def never_carried() -> History:
    """Both sessions were opened for themselves."""
    world = AgedWorld()
    world.opens(ANN, OTHER_SESSION)
    fact = world.write("put_fact", ANN, layer="task", key="conclusion")
    world.read("list_facts", ANN, fact)
    return world.history


def no_session_is_founded() -> History:
    """The target founds no sessions."""
    world = World()
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.the_conclusion_is_there": _carried,
    "violated.PW308-not_there": lambda: _carried(shown=False),
    "inconclusive.nothing_to_carry": lambda: _carried(looks_before=False),
    "inconclusive.deleted_before": lambda: _carried(deleted=True, shown=False),
    "inconclusive.another_task_was_asked": lambda: _carried(viewer=BESIDE, shown=False),
    "inconclusive.limit_hit": lambda: _carried(limited=True),
    "not_covered.refused": lambda: _carried(outcome=INVALID, shown=False),
    "not_covered.never_carried": never_carried,
    "not_covered.no_session_is_founded": no_session_is_founded,
}
