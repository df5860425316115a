"""Golden histories of the check `archive`."""

from __future__ import annotations

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .aged import ARCHIVE, EXPIRED, LIFETIME, LOST, AgedWorld
from .world import ANN, OK, World

GONE = Outcome("fail", reason="no such session", code="not_found")


def _archived(
    *,
    called: bool = False,
    shown: str = "",
    held: str = "",
    state: str = "archived",
    before: bool = True,
    asked: bool = True,
    told: Outcome | None = None,
    summary: bool = False,
    early: bool = False,
    limited: bool = False,
) -> History:
    """A session with a turn is archived, by a call or by time; afterwards this is shown and this lies at rest."""
    world = AgedWorld()
    world.opens(ANN)
    turn, memory = world.write("append_turn", ANN), world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    if before:
        world.read("list_turns", ANN, turn)
    world.holds(turn, memory)
    world.later(LIFETIME + 1)
    if called:
        world.call("archive_session", ANN, OK)
    else:
        world.later(ARCHIVE + 1)
    if early:
        world.holds(turn, memory)
    if told is not None:
        world.call("session_info", ANN, told)
    elif asked:
        world.tells(ANN, state, turns=0)
    world.read("list_turns", ANN, *([turn] if shown == "turns" else []))
    world.read("context", ANN, *([turn] if shown == "context" else []))
    if summary:
        world.read("list_facts", ANN, turn)
    world.holds(memory, *([turn] if held else []))
    if limited:
        world.cut_short()
    return world.history


def move_lost() -> History:
    """Nobody knows whether its time has come."""
    world = AgedWorld()
    world.opens(ANN)
    world.write("append_turn", ANN)
    world.later(LIFETIME + ARCHIVE + 1, outcome=LOST)
    world.tells(ANN, "archived", turns=0)
    return world.history


def still_expired() -> History:
    """Its time for being archived has not come."""
    world = AgedWorld()
    world.opens(ANN)
    turn = world.write("append_turn", ANN)
    world.later(LIFETIME + 1)
    world.tells(ANN, "expired")
    world.read("list_turns", ANN, turn)
    return world.history


def refused() -> History:
    """The target refused to archive it."""
    world = AgedWorld()
    world.opens(ANN)
    turn = world.write("append_turn", ANN)
    world.call("archive_session", ANN, EXPIRED)
    world.read("list_turns", ANN, turn)
    return world.history


def no_archive() -> History:
    """The target knows no archive."""
    world = World()
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.by_time": _archived,
    "held.by_a_call": lambda: _archived(called=True),
    "held.a_summary_tells_it": lambda: _archived(summary=True, shown="context", held="main"),
    "held.cleared_when_next_asked_for": lambda: _archived(early=True),
    "violated.PW304-listed": lambda: _archived(called=True, shown="turns"),
    "violated.PW304-listed_beside_a_summary": lambda: _archived(summary=True, shown="turns"),
    "violated.PW304-in_the_context": lambda: _archived(shown="context"),
    "violated.PW304-at_rest": lambda: _archived(held="main"),
    "violated.PW305-gone": lambda: _archived(told=GONE),
    "violated.PW305-says_expired": lambda: _archived(state="expired"),
    "inconclusive.never_shown_before": lambda: _archived(before=False),
    "inconclusive.never_asked_for": lambda: _archived(asked=False),
    "inconclusive.move_lost": move_lost,
    "inconclusive.answer_lost": lambda: _archived(told=LOST),
    "inconclusive.limit_hit": lambda: _archived(limited=True),
    "not_covered.still_expired": still_expired,
    "not_covered.refused": refused,
    "not_covered.no_archive": no_archive,
}
