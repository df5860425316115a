"""Golden histories of the check `control`."""

from __future__ import annotations

from partywall.canaries import Level
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import UNSENT, Outcome
from partywall.harness.plan import Address

from .world import ANN, OTHER_SESSION, OTHER_TENANT, World, of_levels


def every_channel_shows_its_own() -> History:
    """Turns, context and facts each show their viewer its own."""
    world = World("append_turn", "list_turns", "context", "put_fact", "list_facts")
    for scope in (ANN, OTHER_TENANT):
        turn = world.write("append_turn", scope)
        fact = world.write("put_fact", scope, layer="session", key="k")
        world.read("list_turns", scope, turn)
        world.read("context", scope, turn, fact)
        world.read("list_facts", scope, fact)
    return world.history


def memories_in_the_cached_answer() -> History:
    """Any canary within reach, planted by any write, passes the control of a channel."""
    world = World("append_turn", "add_memory", "cached_answer")
    world.turns(ANN)
    mine = world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    world.read("cached_answer", ANN, mine, query="q")
    return world.history


def sessions_only() -> History:
    """A target that keeps sessions apart and nothing above shows each its own."""
    world = World("append_turn", "list_turns", **of_levels(Level.SESSION))
    own = world.turns(ANN, OTHER_SESSION)
    for scope in (ANN, OTHER_SESSION):
        world.read("list_turns", scope, own[scope])
    return world.history


def users_memories_without_users() -> History:
    """Where the target knows no users, a memory of the user has no wall to cross, so it proves no detector."""
    world = World("add_memory", "list_memories", **of_levels(Level.SESSION))
    mine = world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    world.read("list_memories", ANN, mine)
    return world.history


def one_blind_channel() -> History:
    """The listing shows its own, the search never does."""
    world = World("append_turn", "add_memory", "list_turns", "search_memory")
    own = world.turns(ANN)
    world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    world.read("list_turns", ANN, own[ANN])
    world.read("search_memory", ANN, query="voucher")
    return world.history


def one_blind_viewer() -> History:
    """Acme is shown its own, zeta never: zeta's clean answers prove nothing."""
    world = World("append_turn", "list_turns")
    own = world.turns(ANN, OTHER_TENANT)
    world.read("list_turns", ANN, own[ANN])
    world.read("list_turns", OTHER_TENANT)
    return world.history


def every_look_refused() -> History:
    """Nobody was ever let in."""
    world = World("append_turn", "list_turns")
    world.turns(ANN)
    world.call("list_turns", ANN, Outcome("fail", reason="no", code="denied"))
    return world.history


def every_look_lost() -> History:
    """Nobody ever got an answer."""
    world = World("append_turn", "list_turns")
    world.turns(ANN)
    world.call("list_turns", ANN, Outcome("info", reason="no answer within 10 s", code="timeout"))
    return world.history


def awkward_viewer() -> History:
    """The user None looked and wrote nothing: it cannot be shown its own."""
    world = World("append_turn", "list_turns")
    own = world.turns(ANN)
    world.read("list_turns", ANN, own[ANN])
    world.call("list_turns", Address("acme", "", "s1", "k1"), Outcome("ok", []))
    return world.history


def limit_hit() -> History:
    """All controls passed; an answer was too large to be read."""
    world = World("append_turn", "list_turns")
    own = world.turns(ANN)
    world.read("list_turns", ANN, own[ANN])
    world.recorder.limited("list_turns: answer larger than 8,000,000 characters")
    return world.history


def never_sent() -> History:
    """The only look never left the driver."""
    world = World("append_turn", "list_turns")
    world.turns(ANN)
    world.call("list_turns", ANN, Outcome("fail", reason="no connection", code=UNSENT))
    return world.history


def no_observation() -> History:
    """Writes only."""
    world = World("append_turn")
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.every_channel_shows_its_own": every_channel_shows_its_own,
    "held.memories_in_the_cached_answer": memories_in_the_cached_answer,
    "held.sessions_only": sessions_only,
    "inconclusive.users_memories_without_users": users_memories_without_users,
    "inconclusive.one_blind_channel": one_blind_channel,
    "inconclusive.one_blind_viewer": one_blind_viewer,
    "inconclusive.every_look_refused": every_look_refused,
    "inconclusive.every_look_lost": every_look_lost,
    "inconclusive.awkward_viewer": awkward_viewer,
    "inconclusive.limit_hit": limit_hit,
    "not_covered.never_sent": never_sent,
    "not_covered.no_observation": no_observation,
}
