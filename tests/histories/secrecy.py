"""Golden histories of the check `secrecy`."""

from __future__ import annotations

from partywall.canaries import Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, World

_OPERATIONS = (*EVERYTHING, "read_log")
_WORDY = Scope("acme", "ann.archer@example.com", "s1", "k1")


def _logged(line: str, *, owner: Scope = ANN, before: str = "started", limited: bool = False) -> History:
    """An owner works; this line is in the log afterwards, its canary where `{}` stands."""
    world = World(*_OPERATIONS)
    world.call("read_log", owner, Outcome("ok", [before] if before else []))
    mine = world.write("append_turn", owner)
    fresh = [line.format(mine.text)] if line else []
    world.call("read_log", owner, Outcome("ok", [before, *fresh]))
    if limited:
        world.recorder.limited("read_log: answer larger than 8,000,000 characters")
    return world.history


def view_lost() -> History:
    """The second view got no answer."""
    world = World(*_OPERATIONS)
    world.call("read_log", ANN, Outcome("ok", []))
    world.turns(ANN)
    world.call("read_log", ANN, Outcome("info", reason="no answer within 10 s", code="timeout"))
    return world.history


def one_view() -> History:
    """Nobody read the log before the owners' work."""
    world = World(*_OPERATIONS)
    world.turns(ANN)
    world.call("read_log", ANN, Outcome("ok", ["started"]))
    return world.history


def no_view() -> History:
    """The target shows no log."""
    world = World()
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.a_line_that_locates": lambda: _logged('{{"op": "append_turn", "session": "5d41402a", "turn": 1}}'),
    "held.a_short_name_by_chance": lambda: _logged("channel opened"),
    "violated.PW601-what_was_said": lambda: _logged("user said: {}"),
    "violated.PW601-json": lambda: _logged('{{"request": "voucher {}"}}'),
    "violated.PW602-user_in_clear": lambda: _logged("append for ann.archer@example.com", owner=_WORDY),
    "inconclusive.no_line_came_to_be": lambda: _logged(""),
    "inconclusive.view_lost": view_lost,
    "inconclusive.limit_hit": lambda: _logged("append_turn", limited=True),
    "not_covered.one_view": one_view,
    "not_covered.no_view": no_view,
}
