"""Golden histories of the check `supersession`."""

from __future__ import annotations

from typing import Any

from partywall.canaries import Canary
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, World

KEY = "region_rule"
FIRST, CHANGE = 100.0, 200.0


def _version(
    canary: Canary, number: int, begins: Any, ends: Any = None, following: int | None = None
) -> dict[str, Any]:
    return {
        "key": KEY,
        "layer": "task",
        "value": f"Please note voucher {canary.text}.",
        "version": number,
        "valid_from": begins,
        "valid_to": ends,
        "superseded_by": following,
    }


def _changed(
    *,
    begins: tuple[Any, Any] = (FIRST, CHANGE),
    ends: Any = CHANGE,
    following: int | None = 2,
    kept: bool = True,
    early: str = "old",
    late: str = "new",
    asked: bool = True,
    listed: bool = True,
    plain: bool = False,
    pointing: bool = True,
    limited: bool = False,
) -> History:
    """A rule changes; what it is, all that it was, and what it was at both instants is asked for."""
    world = World()

    def told(*versions: dict[str, Any]) -> Outcome:
        shown: list[Any] = []
        for version in versions:
            cut = {name: part for name, part in version.items() if pointing or name != "superseded_by"}
            shown.append(version["value"] if plain else cut)
        return Outcome("ok", shown)

    one = world.write("put_fact", ANN, key=KEY, layer="task")
    open_ = _version(one, 1, begins[0])
    world.call("list_facts", ANN, told(open_))
    other = world.write("put_fact", ANN, key=KEY, layer="task")
    old, new = _version(one, 1, begins[0], ends, following), _version(other, 2, begins[1])
    answers = {"old": (old,), "new": (new,), "both": (old, new), "": ()}
    world.call("list_facts", ANN, told(new))
    if asked:
        world.call("list_facts", ANN, told(*answers[early]), at=begins[0])
        world.call("list_facts", ANN, told(*answers[late]), at=begins[1])
    if listed:
        beside = {**_version(one, 1, begins[0]), "key": "another_rule", "value": "by weight"}
        world.call("list_facts", ANN, told(beside, *((old,) if kept else ()), new), include_superseded=True)
    if limited:
        world.recorder.limited("list_facts: answer larger than 8,000,000 characters")
    return world.history


def _again(versions: int) -> History:
    """The same value is asserted twice; so many versions are told."""
    world = World()
    mine = world.write("put_fact", ANN, key=KEY, layer="task")
    world.write("put_fact", ANN, canary=mine, key=KEY, layer="task")
    shown = [_version(mine, n + 1, FIRST + n, FIRST + n + 1, n + 2) for n in range(versions - 1)]
    world.call(
        "list_facts",
        ANN,
        Outcome("ok", [*shown, _version(mine, versions, FIRST + versions - 1)]),
        include_superseded=True,
    )
    return world.history


def deleted_in_between() -> History:
    """What was deleted has no past."""
    world = World(*EVERYTHING, "delete_fact")
    one = world.write("put_fact", ANN, key=KEY, layer="task")
    world.call("list_facts", ANN, Outcome("ok", [_version(one, 1, FIRST)]), at=FIRST)
    world.call("delete_fact", ANN, Outcome("ok"), key=KEY)
    other = world.write("put_fact", ANN, key=KEY, layer="task")
    world.call("list_facts", ANN, Outcome("ok", [_version(other, 1, CHANGE)]), include_superseded=True)
    return world.history


def change_lost() -> History:
    """Nobody knows whether the rule was changed."""
    world = World()
    one = world.write("put_fact", ANN, key=KEY, layer="task")
    world.write("put_fact", ANN, key=KEY, layer="task", outcome=Outcome("info", reason="no answer", code="timeout"))
    other = world.write("put_fact", ANN, key=KEY, layer="task")
    held = [_version(one, 1, FIRST, CHANGE, 2), _version(other, 3, CHANGE + 50)]
    world.call("list_facts", ANN, Outcome("ok", held), include_superseded=True)
    return world.history


def no_facts() -> History:
    """The target keeps no facts."""
    world = World("append_turn", "list_turns")
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.explained": _changed,
    "held.without_pointers": lambda: _changed(pointing=False),
    "held.instants_in_words": lambda: _changed(
        begins=("2030-01-01T10:00:00+00:00", "2030-01-01T11:00:00+00:00"), ends="2030-01-01T12:00:00+01:00"
    ),
    "held.same_value_again": lambda: _again(1),
    "violated.PW311-overwritten": lambda: _changed(kept=False),
    "violated.PW311-instant_ignored": lambda: _changed(early="new"),
    "violated.PW311-nothing_told": lambda: _changed(early=""),
    "violated.PW312-same_value_again": lambda: _again(2),
    "violated.PW313-overlap": lambda: _changed(ends=CHANGE + 50),
    "violated.PW313-gap": lambda: _changed(ends=CHANGE - 50),
    "violated.PW313-closed_at_both_ends": lambda: _changed(late="both"),
    "violated.PW314-not_closed": lambda: _changed(ends=None),
    "violated.PW314-points_nowhere": lambda: _changed(following=None),
    "violated.PW314-points_to_itself": lambda: _changed(following=1),
    "inconclusive.the_clock_stood_still": lambda: _changed(begins=(FIRST, FIRST), ends=FIRST, early="new"),
    "inconclusive.never_asked_about_an_instant": lambda: _changed(asked=False),
    "inconclusive.never_listed": lambda: _changed(listed=False),
    "inconclusive.limit_hit": lambda: _changed(limited=True),
    "not_covered.plain_values": lambda: _changed(plain=True),
    "not_covered.nobody_asked": lambda: _changed(asked=False, listed=False),
    "not_covered.deleted_in_between": deleted_in_between,
    "not_covered.change_lost": change_lost,
    "not_covered.no_facts": no_facts,
}
