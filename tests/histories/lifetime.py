"""Golden histories of the check `lifetime`."""

from __future__ import annotations

from typing import Any

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .aged import EXPIRED, IDLE, LIFETIME, LOST, AgedWorld
from .world import ANN, EVERYTHING, OK, OTHER_SESSION, World

LIMITED = Outcome("fail", reason="too many calls", code="limited")


def _ended(
    late: Outcome = EXPIRED, *, first: Outcome = OK, state: str = "expired", end: Any = LIFETIME, limited: bool = False
) -> History:
    """Two sessions are founded together; one is written to near its end; then both are."""
    world = AgedWorld()
    world.opens(ANN, OTHER_SESSION)
    world.write("append_turn", ANN, outcome=first)
    world.write("append_turn", OTHER_SESSION, outcome=first)
    world.tells(ANN, "active")
    world.later(LIFETIME * 0.9)
    world.write("append_turn", OTHER_SESSION, outcome=first)
    world.later(LIFETIME * 0.1 + 1)
    world.write("append_turn", ANN, outcome=EXPIRED if first.status == "ok" else first)
    world.write("append_turn", OTHER_SESSION, outcome=late)
    world.tells(ANN, state, end=end)
    if limited:
        world.cut_short()
    return world.history


def _idled(again: Outcome = OK, *, keeps: bool = True, numbered_from: int | None = None) -> History:
    """A session is left alone, written to and looked at again; then its end comes."""
    world = AgedWorld()
    world.opens(ANN)
    mine = world.write("append_turn", ANN)
    text = f"We have voucher {mine.text}."
    if numbered_from is None:
        world.read("list_turns", ANN, mine)
    else:
        world.call("list_turns", ANN, Outcome("ok", [{"turn": 1, "role": "user", "text": text, "task": "k1"}]))
    world.later(IDLE + 1)
    if numbered_from is None:
        world.read("list_turns", ANN, *([mine] if keeps else []))
    else:
        later = {"turn": numbered_from, "role": "user", "text": "one more", "task": "k1"}
        world.call("list_turns", ANN, Outcome("ok", [later]))
    world.write("append_turn", ANN, outcome=again)
    world.later(LIFETIME)
    world.write("append_turn", ANN, outcome=EXPIRED)
    return world.history


def never_ends() -> History:
    """Both sessions take turns for ever."""
    world = AgedWorld()
    world.opens(ANN, OTHER_SESSION)
    world.turns(ANN, OTHER_SESSION)
    world.later(LIFETIME + 1)
    world.turns(ANN, OTHER_SESSION)
    return world.history


def first_named_by_a_read() -> History:
    """Whether the read founded it cannot be said: a turn that is too late for that one is not for the first write."""
    world = AgedWorld()
    world.read("list_turns", ANN)
    world.later(LIFETIME / 2)
    world.turns(ANN)
    world.later(LIFETIME * 0.6)
    world.turns(ANN)
    world.later(LIFETIME / 2)
    world.write("append_turn", ANN, outcome=EXPIRED)
    return world.history


def purged_and_founded_anew() -> History:
    """Another session under the same name, with a life of its own."""
    world = AgedWorld(*EVERYTHING, "create_session", "advance_clock", "purge")
    world.opens(ANN, OTHER_SESSION)
    world.turns(ANN, OTHER_SESSION)
    world.later(LIFETIME + 1)
    world.write("append_turn", OTHER_SESSION, outcome=EXPIRED)
    world.call("purge", ANN, Outcome("ok", {}), level="session")
    world.opens(ANN)
    world.turns(ANN)
    return world.history


def read_near_its_end() -> History:
    """A read near the end has set it anew."""
    world = AgedWorld()
    world.opens(ANN, OTHER_SESSION)
    own = world.turns(ANN, OTHER_SESSION)
    world.later(LIFETIME * 0.9)
    world.read("list_turns", OTHER_SESSION, own[OTHER_SESSION])
    world.later(LIFETIME * 0.1 + 1)
    world.write("append_turn", ANN, outcome=EXPIRED)
    world.write("append_turn", OTHER_SESSION)
    return world.history


def stopped_after_the_move() -> History:
    """A target that is killed may have forgotten that its clock was moved."""
    world = AgedWorld(*EVERYTHING, "create_session", "advance_clock", "restart")
    world.opens(ANN)
    world.turns(ANN)
    world.later(LIFETIME + 1)
    world.call("restart", ANN, OK)
    world.turns(ANN)
    return world.history


def move_lost() -> History:
    """Nobody knows whether the clock was moved."""
    world = AgedWorld()
    world.opens(ANN)
    world.turns(ANN)
    world.later(LIFETIME + 1, outcome=LOST)
    world.turns(ANN)
    return world.history


def never_moved() -> History:
    """Nobody moved the clock."""
    world = AgedWorld()
    world.opens(ANN)
    world.turns(ANN)
    return world.history


def no_promise() -> History:
    """The target promises no lifetime."""
    world = World(*EVERYTHING, "advance_clock")
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.refused_after_the_end": _ended,
    "held.told_in_another_form": lambda: _ended(end="1970-01-01T00:16:40+00:00"),
    "held.archived_by_then": lambda: _ended(state="archived", end=None),
    "held.idle_costs_nothing": _idled,
    "held.condensed_meanwhile": lambda: _idled(numbered_from=2),
    "held.first_named_by_a_read": first_named_by_a_read,
    "held.purged_and_founded_anew": purged_and_founded_anew,
    "violated.PW301-never_ends": never_ends,
    "violated.PW301-calls_itself_active": lambda: _ended(state="idle"),
    "violated.PW302-written_to_near_its_end": lambda: _ended(OK),
    "violated.PW302-read_near_its_end": read_near_its_end,
    "violated.PW302-told_another_end": lambda: _ended(end=LIFETIME + 900),
    "violated.PW303-idle_ends": lambda: _idled(EXPIRED),
    "violated.PW303-idle_forgets": lambda: _idled(keeps=False),
    "inconclusive.never_taken": lambda: _ended(EXPIRED, first=EXPIRED),
    "inconclusive.late_turn_lost": lambda: _ended(LOST),
    "inconclusive.stopped_after_the_move": stopped_after_the_move,
    "inconclusive.move_lost": move_lost,
    "inconclusive.limit_hit": lambda: _ended(limited=True),
    "not_covered.never_moved": never_moved,
    "not_covered.no_promise": no_promise,
}
