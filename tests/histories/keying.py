"""Golden histories of the check `keying`."""

from __future__ import annotations

from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OTHER_TENANT, World

_OPERATIONS = (*EVERYTHING, "stored_keys")
_NONE: dict[str, list[str]] = {"main": [], "cache": [], "objects": []}


def _stored(
    *keys: str, place: str = "cache", before: tuple[str, ...] = (), limited: bool = False, keyed: tuple[str, ...] = ()
) -> History:
    """Two owners work; these keys are there afterwards."""
    world = World(*_OPERATIONS, promises={"keyed": list(keyed)})
    world.call("stored_keys", ANN, Outcome("ok", {**_NONE, place: list(before)}))
    world.turns(ANN, OTHER_TENANT)
    world.call("stored_keys", ANN, Outcome("ok", {**_NONE, place: [*before, *keys]}))
    if limited:
        world.recorder.limited("stored_keys: answer larger than 8,000,000 characters")
    return world.history


def view_lost() -> History:
    """The second view got no answer."""
    world = World(*_OPERATIONS)
    world.call("stored_keys", ANN, Outcome("ok", _NONE))
    world.turns(ANN)
    world.call("stored_keys", ANN, Outcome("info", reason="no answer within 10 s", code="timeout"))
    return world.history


def one_view() -> History:
    """Nobody looked before the owners' work, so nobody knows what is theirs."""
    world = World(*_OPERATIONS)
    world.turns(ANN)
    world.call("stored_keys", ANN, Outcome("ok", {**_NONE, "cache": ["answer:1"]}))
    return world.history


def no_view() -> History:
    """The target shows no keys."""
    world = World()
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.tenant_and_user_in_every_key": lambda: _stored("acme/ann/s1/answer", "zeta/ann/s1/answer"),
    "held.escaped": lambda: _stored("t=ac%6De&u=a%6En"),
    "held.what_stood_there_before": lambda: _stored("acme/ann/q", before=("global:config",)),
    "held.a_log_line_names_its_tenant": lambda: _stored("tacme|u#1|ss1|kk1", place="log", keyed=("log",)),
    "inconclusive.a_log_that_promised_nothing": lambda: _stored("app.log", place="log"),
    "inconclusive.no_lock_came_to_be": lambda: _stored("acme/ann/q", keyed=("locks",)),
    "violated.PW801-log": lambda: _stored("ss1|kk1", place="log", keyed=("log",)),
    "violated.PW801-lock": lambda: _stored("session:s1", place="locks", keyed=("locks",)),
    "violated.PW801-cache": lambda: _stored("answer:5d41402a", "acme/ann/q"),
    "violated.PW801-objects": lambda: _stored("report.md", place="objects"),
    "violated.PW802-cache": lambda: _stored("acme/s1/answer"),
    "inconclusive.no_key_came_to_be": _stored,
    "inconclusive.rows_of_the_main_store_only": lambda: _stored("17", place="main"),
    "inconclusive.view_lost": view_lost,
    "inconclusive.limit_hit": lambda: _stored("acme/ann/q", limited=True),
    "not_covered.one_view": one_view,
    "not_covered.no_view": no_view,
}
