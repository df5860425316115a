"""Golden histories of the check `layers`."""

from __future__ import annotations

from typing import Any

from partywall.canaries import Canary
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OK, OTHER_SESSION, World

DENIED = Outcome("fail", reason="facts are for good", code="denied")


def _record(canary: Canary, layer: str) -> dict[str, Any]:
    return {"key": f"{layer}_key", "layer": layer, "value": f"We have voucher {canary.text}."}


def _noted(
    *,
    op: str = "put_fact",
    elsewhere: bool = False,
    as_users: bool = False,
    listed: bool = True,
    works: bool = False,
    deletion: Outcome | None = None,
    survives: bool = False,
    again: bool = False,
    looks: bool = True,
    limited: bool = False,
) -> History:
    """A note for one task, and a fact of the user's own beside it; then another session is looked at, and the user
    may delete what is its own."""
    world = World(*EVERYTHING, "delete_fact")
    own = world.write("put_fact", ANN, layer="user", key="user_key")
    arguments: dict[str, Any] = {"layer": "task", "key": "task_key"} if op == "put_fact" else {}
    note = world.write(op, ANN, **arguments)
    world.call("list_facts", ANN, Outcome("ok", [_record(note, "user" if as_users else "task")]))
    shown = [_record(own, "user")] if listed else []
    if looks:
        away = [*shown, *([_record(note, "task")] if elsewhere else [])]
        world.call("list_facts", OTHER_SESSION, Outcome("ok", away))
    if works:
        world.read("context", OTHER_SESSION, own)
    if deletion is not None:
        world.call("delete_fact", OTHER_SESSION, deletion, key="user_key")
        if again:
            world.write("put_fact", ANN, canary=own, layer="user", key="user_key")
        world.call("list_facts", ANN, Outcome("ok", [_record(own, "user")] if survives else []))
    if limited:
        world.recorder.limited("list_facts: answer larger than 8,000,000 characters")
    return world.history


def no_facts() -> History:
    """The target keeps no facts."""
    world = World("append_turn", "list_turns")
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.each_in_its_layer": _noted,
    "held.deleted_for_good": lambda: _noted(deletion=OK),
    "held.put_again_after_its_deletion": lambda: _noted(deletion=OK, survives=True, again=True),
    "violated.PW321-shown_in_another_session": lambda: _noted(elsewhere=True),
    "violated.PW321-calls_itself_the_users": lambda: _noted(as_users=True),
    "violated.PW321-a_turn_became_a_fact": lambda: _noted(op="append_turn", elsewhere=True),
    "violated.PW323-works_unlisted": lambda: _noted(listed=False, works=True),
    "violated.PW323-survives_its_deletion": lambda: _noted(deletion=OK, survives=True),
    "violated.PW323-deletion_refused": lambda: _noted(deletion=DENIED, survives=True),
    "inconclusive.the_users_own_is_not_seen": lambda: _noted(listed=False),
    "inconclusive.limit_hit": lambda: _noted(limited=True),
    "not_covered.nobody_looked_from_elsewhere": lambda: _noted(looks=False),
    "not_covered.no_facts": no_facts,
}
