"""Golden histories of the check `takeover`."""

from __future__ import annotations

from typing import Any

from partywall.canaries import Canary, Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OK, OTHER_SESSION, OTHER_TENANT, OTHER_USER, World

_SAVED: dict[str, Any] = {"name": "report.md"}


def _save(world: World, owner: Scope, outcome: Outcome = OK) -> Canary:
    return world.write("put_artifact", owner, outcome=outcome, **_SAVED)


def _story(stranger: Scope, *, kept: bool, outcome: Outcome = OK, seen: bool = True) -> History:
    """Ann saves and looks, a stranger saves under the same ids, ann looks again."""
    world = World()
    mine = _save(world, ANN)
    world.read("get_artifact", ANN, *([mine] if seen else []), **_SAVED)
    _save(world, stranger, outcome)
    world.read("get_artifact", ANN, *([mine] if kept and seen else []), **_SAVED)
    return world.history


def owner_overwrote_itself() -> History:
    """Ann saved a second version herself: the first one is gone by her own doing."""
    world = World()
    mine = _save(world, ANN)
    world.read("get_artifact", ANN, mine, **_SAVED)
    _save(world, OTHER_TENANT)
    again = _save(world, ANN)
    world.read("get_artifact", ANN, again, **_SAVED)
    return world.history


def ranked_away() -> History:
    """A search may rank a text away after any write at all."""
    world = World()
    mine = world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    world.read("search_memory", ANN, mine, query="voucher")
    world.write("add_memory", OTHER_USER, outcome=Outcome("ok", "m2"))
    world.read("search_memory", ANN, query="voucher")
    return world.history


def asked_otherwise() -> History:
    """The second look asked for another name."""
    world = World()
    mine = _save(world, ANN)
    world.read("get_artifact", ANN, mine, **_SAVED)
    _save(world, OTHER_TENANT)
    world.read("get_artifact", ANN, name="other.md")
    world.read("get_artifact", ANN, mine, **_SAVED)
    return world.history


def answer_lost() -> History:
    """The second look got no answer: nothing is known to be gone."""
    world = World()
    mine = _save(world, ANN)
    world.read("get_artifact", ANN, mine, **_SAVED)
    _save(world, OTHER_TENANT)
    world.call("get_artifact", ANN, Outcome("info", reason="no answer within 10 s", code="timeout"), **_SAVED)
    return world.history


def turns_replaced() -> History:
    """The stranger's first turn replaced ann's list of turns."""
    world = World()
    own = world.turns(ANN)
    world.read("list_turns", ANN, own[ANN])
    world.turns(OTHER_TENANT)
    world.read("list_turns", ANN)
    return world.history


def refused_afterwards() -> History:
    """After the stranger's write the owner is refused what was its own."""
    world = World()
    mine = _save(world, ANN)
    world.read("get_artifact", ANN, mine, **_SAVED)
    _save(world, OTHER_TENANT)
    world.call("get_artifact", ANN, Outcome("fail", reason="not yours", code="denied"), **_SAVED)
    return world.history


def purged_in_between() -> History:
    """The owner's content is gone because it was purged."""
    world = World(*EVERYTHING, "purge")
    mine = _save(world, ANN)
    world.read("get_artifact", ANN, mine, **_SAVED)
    _save(world, OTHER_TENANT)
    world.call("purge", ANN, Outcome("ok", {}), level="tenant")
    world.read("get_artifact", ANN, **_SAVED)
    return world.history


def limit_hit() -> History:
    """Nothing is missing where it was looked; somewhere a limit was hit."""
    world = World()
    mine = _save(world, ANN)
    world.read("get_artifact", ANN, mine, **_SAVED)
    _save(world, OTHER_TENANT)
    world.read("get_artifact", ANN, mine, **_SAVED)
    world.recorder.limited("aclose: TimeoutError")
    return world.history


def no_observation() -> History:
    """A target that shows nothing exactly: search only."""
    world = World("add_memory", "search_memory")
    world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    return world.history


HISTORIES = {
    "held.owner_still_sees_its_own": lambda: _story(OTHER_TENANT, kept=True),
    "held.asked_otherwise": asked_otherwise,
    "violated.PW106-tenant": lambda: _story(OTHER_TENANT, kept=False),
    "violated.PW106-user": lambda: _story(OTHER_USER, kept=False),
    "violated.PW106-turns": turns_replaced,
    "violated.PW106-refused-afterwards": refused_afterwards,
    "inconclusive.owner_never_saw_its_own": lambda: _story(OTHER_TENANT, kept=False, seen=False),
    "inconclusive.limit_hit": limit_hit,
    "not_covered.same_user": lambda: _story(OTHER_SESSION, kept=False),
    "not_covered.stranger_was_refused": lambda: _story(
        OTHER_TENANT, kept=False, outcome=Outcome("fail", reason="taken", code="conflict")
    ),
    "not_covered.owner_overwrote_itself": owner_overwrote_itself,
    "not_covered.purged_in_between": purged_in_between,
    "not_covered.ranked_away": ranked_away,
    "not_covered.answer_lost": answer_lost,
    "not_covered.no_observation": no_observation,
}
