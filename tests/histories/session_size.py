"""Golden histories of the check `session_size`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .aged import AgedWorld
from .world import ANN, OK, World

MOST = 4
FULL = Outcome("fail", reason="the session is full", code="invalid")
_BOUNDED: dict[str, Any] = {"max_turns": MOST, "condense_at": 3}


def _filled(
    *,
    listed: Sequence[int],
    facts: Sequence[str] = ("summary: six turns about a delivery",),
    outcomes: Sequence[Outcome] = (OK,) * 6,
    promises: dict[str, Any] = _BOUNDED,
    quotes: bool = False,
    counted: int | None = None,
    asks: bool = True,
    looks: bool = True,
    limited: bool = False,
) -> History:
    """Six turns are sent to a session that may hold four; these numbers are listed, these facts shown."""
    world = AgedWorld(promises=promises)
    world.opens(ANN)
    own = [world.write("append_turn", ANN, outcome=outcome) for outcome in outcomes]
    fact = world.write("put_fact", ANN, layer="task", key="open_order_task")
    if looks:
        turns = [
            {"turn": n, "role": "user", "text": f"We have voucher {own[n - 1].text}.", "task": "k1"} for n in listed
        ]
        world.call("list_turns", ANN, Outcome("ok", turns))
    if counted is not None:
        world.tells(ANN, "active", turns=counted)
    if asks:
        world.read("list_facts", ANN, f"Please note voucher {fact.text}.", *facts)
        world.read("context", ANN, *([own[0]] if quotes else []))
    if limited:
        world.cut_short()
    return world.history


def not_filled() -> History:
    """Three turns fit."""
    world = AgedWorld(promises=_BOUNDED)
    world.opens(ANN)
    world.read("list_turns", ANN, *(world.write("append_turn", ANN) for _ in range(3)))
    return world.history


def no_bound() -> History:
    """The target promises no bound."""
    world = World()
    world.turns(ANN)
    return world.history


_NOT_CONDENSING = {"max_turns": MOST}

HISTORIES = {
    "held.condensed": lambda: _filled(listed=(4, 5, 6)),
    "held.the_context_tells_it": lambda: _filled(listed=(4, 5, 6), facts=(), quotes=True),
    "held.refused_when_full": lambda: _filled(listed=(1, 2, 3, 4), outcomes=(OK, OK, OK, OK, FULL, FULL)),
    "held.nothing_promised_of_condensing": lambda: _filled(listed=(4, 5, 6), facts=(), promises=_NOT_CONDENSING),
    "violated.PW306-listed": lambda: _filled(listed=(1, 2, 3, 4, 5, 6)),
    "violated.PW306-counted": lambda: _filled(listed=(4, 5, 6), counted=6),
    "violated.PW307-no_summary": lambda: _filled(listed=(4, 5, 6), facts=()),
    "inconclusive.never_taken": lambda: _filled(listed=(), outcomes=(FULL,) * 6),
    "inconclusive.never_looked_at": lambda: _filled(listed=(), looks=False),
    "inconclusive.limit_hit": lambda: _filled(listed=(4, 5, 6), limited=True),
    "not_covered.not_filled": not_filled,
    "not_covered.no_bound": no_bound,
}
