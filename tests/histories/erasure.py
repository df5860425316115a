"""Golden histories of the check `erasure`."""

from __future__ import annotations

from collections.abc import Sequence

from partywall.canaries import Canary
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OTHER_SESSION, OTHER_TENANT, World

_OPERATIONS = (*EVERYTHING, "stored_bytes", "purge")
_DONE = Outcome("ok", {"removed": 1})


def _looked(world: World, *shown: Canary, place: str = "main") -> None:
    """Everything at rest, in one place."""
    held = {"main": [], "log": [], place: [f"row {canary.text}" for canary in shown]}
    world.call("stored_bytes", ANN, Outcome("ok", held))


def _purged(
    *afterwards: Sequence[str],
    level: str = "tenant",
    outcome: Outcome = _DONE,
    before: Sequence[str] = ("mine", "theirs"),
    place: str = "main",
    limited: bool = False,
) -> History:
    """Ann of acme and ann of zeta write; acme is purged; the views afterwards hold these."""
    world = World(*_OPERATIONS)
    own = world.turns(ANN, OTHER_TENANT)
    by_name = {"mine": own[ANN], "theirs": own[OTHER_TENANT]}
    _looked(world, *(by_name[name] for name in before))
    world.call("purge", ANN, outcome, level=level)
    for names in afterwards:
        _looked(world, *(by_name[name] for name in names), place=place)
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
    "violated.PW401-in-the-log": lambda: _purged(("mine", "theirs"), place="log"),
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
