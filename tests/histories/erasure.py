"""Golden histories of the check `erasure`."""

from __future__ import annotations

from collections.abc import Sequence

from partywall.canaries import Canary
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OTHER_SESSION, OTHER_TENANT, World

_OPERATIONS = (*EVERYTHING, "stored_bytes", "purge")
_DONE = Outcome("ok", {"removed": 1})


def _looked(world: World, *shown: Canary, log: Sequence[str] = ()) -> None:
    """Everything at rest."""
    held = {"main": [f"row {canary.text}" for canary in shown], "log": list(log)}
    world.call("stored_bytes", ANN, Outcome("ok", held))


def _purged(
    *afterwards: Sequence[str],
    level: str = "tenant",
    outcome: Outcome = _DONE,
    before: Sequence[str] = ("mine", "theirs"),
    limited: bool = False,
) -> History:
    """Ann of acme and ann of zeta write; acme is purged; the views afterwards hold these."""
    world = World(*_OPERATIONS)
    own = world.turns(ANN, OTHER_TENANT)
    by_name = {"mine": own[ANN], "theirs": own[OTHER_TENANT]}
    _looked(world, *(by_name[name] for name in before))
    world.call("purge", ANN, outcome, level=level)
    for names in afterwards:
        _looked(world, *(by_name[name] for name in names))
    if limited:
        world.recorder.limited("stored_bytes: answer larger than 8,000,000 characters")
    return world.history


def memory_outlives_its_session() -> History:
    """A session's purge takes its turns and keeps what is the user's."""
    world = World(*_OPERATIONS)
    turn = world.write("append_turn", ANN)
    memory = world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    _looked(world, turn, memory)
    world.call("purge", ANN, _DONE, level="session")
    _looked(world, memory)
    return world.history


def memory_taken_with_its_session() -> History:
    """A session's purge took the user's memory too."""
    world = World(*_OPERATIONS)
    turn = world.write("append_turn", ANN)
    memory = world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    other = world.write("append_turn", OTHER_SESSION)
    _looked(world, turn, memory, other)
    world.call("purge", ANN, _DONE, level="session")
    _looked(world, other)
    return world.history


def written_after_the_purge() -> History:
    """What was written after the purge was called may stay."""
    world = World(*_OPERATIONS)
    own = world.turns(ANN, OTHER_TENANT)
    _looked(world, *own.values())
    world.call("purge", ANN, _DONE, level="tenant")
    again = world.write("append_turn", ANN)
    _looked(world, again, own[OTHER_TENANT])
    return world.history


def still_answered() -> History:
    """At rest it is gone; a cached answer still tells it."""
    world = World(*_OPERATIONS)
    own = world.turns(ANN, OTHER_TENANT)
    _looked(world, *own.values())
    world.call("purge", ANN, _DONE, level="tenant")
    world.read("cached_answer", ANN, own[ANN], query="q")
    _looked(world, own[OTHER_TENANT])
    return world.history


def in_the_log(*lines: str, tenant: str = "acme", level: str = "tenant") -> History:
    """The log names acme before; these of its lines stand there after the purge."""
    world = World(*_OPERATIONS)
    own = world.turns(ANN, OTHER_TENANT)
    theirs = [f"row {own[OTHER_TENANT].text}"]
    begun = [f"{tenant} append_turn 1", "zeta append_turn 1"]
    world.call("stored_bytes", ANN, Outcome("ok", {"main": [f"row {own[ANN].text}", *theirs], "log": begun}))
    world.call("purge", ANN, _DONE, level=level)
    world.call("stored_bytes", ANN, Outcome("ok", {"main": theirs, "log": ["zeta append_turn 1", *lines]}))
    return world.history


def content_in_the_log() -> History:
    """The log holds what was said, and holds it still."""
    world = World(*_OPERATIONS)
    own = world.turns(ANN, OTHER_TENANT)
    said = [f"heard {own[ANN].text}"]
    _looked(world, *own.values(), log=said)
    world.call("purge", ANN, _DONE, level="tenant")
    _looked(world, own[OTHER_TENANT], log=said)
    return world.history


def no_longer_cached() -> History:
    """A neighbour's content is still kept, and no longer cached: a purge may empty a cache."""
    world = World(*_OPERATIONS)
    own = world.turns(ANN, OTHER_TENANT)
    mine, theirs = ([f"row {own[scope].text}"] for scope in (ANN, OTHER_TENANT))
    world.call("stored_bytes", ANN, Outcome("ok", {"main": [*mine, *theirs], "cache": theirs}))
    world.call("purge", ANN, _DONE, level="tenant")
    world.call("stored_bytes", ANN, Outcome("ok", {"main": theirs, "cache": []}))
    return world.history


def cached_alone() -> History:
    """A neighbour's content is gone from where it was kept; a cache still tells it."""
    world = World(*_OPERATIONS)
    own = world.turns(ANN, OTHER_TENANT)
    other = world.write("append_turn", OTHER_TENANT)
    theirs = [f"row {own[OTHER_TENANT].text}"]
    kept = [f"row {other.text}"]
    world.call("stored_bytes", ANN, Outcome("ok", {"main": [f"row {own[ANN].text}", *theirs, *kept], "cache": theirs}))
    world.call("purge", ANN, _DONE, level="tenant")
    world.call("stored_bytes", ANN, Outcome("ok", {"main": kept, "cache": theirs}))
    return world.history


def no_view() -> History:
    """A target whose storage cannot be looked at."""
    world = World(*EVERYTHING, "purge")
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.nothing_left_of_the_tenant": lambda: _purged(("theirs",)),
    "held.memory_outlives_its_session": memory_outlives_its_session,
    "held.written_after_the_purge": written_after_the_purge,
    "violated.PW401-at-rest": lambda: _purged(("mine", "theirs")),
    "violated.PW401-in-the-log": content_in_the_log,
    "held.a_neighbour_is_no_longer_cached": no_longer_cached,
    "held.the_purge_itself_is_recorded": lambda: in_the_log("acme purged"),
    "held.a_line_of_a_longer_name": lambda: in_the_log("acme0 append_turn 1", tenant="acme0"),
    "held.a_users_purge_keeps_the_tenants_lines": lambda: in_the_log("acme append_turn 1", level="user"),
    "violated.PW401-lines_of_the_tenant": lambda: in_the_log("acme append_turn 1"),
    "violated.PW402-kept_in_a_cache_alone": cached_alone,
    "violated.PW401-still-answered": still_answered,
    "violated.PW402-neighbour": lambda: _purged(()),
    "violated.PW402-memory": memory_taken_with_its_session,
    "violated.PW403-back-again": lambda: _purged(("theirs",), ("mine", "theirs")),
    "inconclusive.never_seen_at_rest": lambda: _purged(("theirs",), before=("theirs",)),
    "inconclusive.neighbour_never_seen": lambda: _purged((), before=("mine",)),
    "inconclusive.nobody_looked_afterwards": _purged,
    "inconclusive.limit_hit": lambda: _purged(("theirs",), limited=True),
    "not_covered.level_refused": lambda: _purged(
        ("mine", "theirs"), outcome=Outcome("fail", reason="not at this level", code="invalid")
    ),
    "not_covered.purge_unknown": lambda: _purged(("theirs",), outcome=Outcome("info", reason="lost", code="timeout")),
    "not_covered.no_view": no_view,
}
