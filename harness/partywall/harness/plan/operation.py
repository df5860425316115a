"""Operation: the verbs of target contract v1, what each takes, plants and shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from partywall.canaries import Level

from .channel import Channel


class Shape(StrEnum):
    """The form of an operation's value; `contract` judges it at the seam."""

    NOTHING = "nothing"
    IDENTIFIER = "an id or nothing"
    TURN_ACK = "nothing or {turn, version}"
    TURNS = "a list of turns or of strings"
    REPLY = "text or {text, …}"
    SNIPPETS = "text or a list of snippets"
    TEXTS = "a list of texts or of {id, text}"
    MEMORY = "text, {id, text} or nothing"
    FACT = "a value, a record or nothing"
    RECORDS = "a list"
    TEXT = "text or nothing"
    NAMES = "a list of text"
    INFO = "{state, turns, expires_at, version}"
    REPORT = "any report or nothing"
    PLACES = "{place: list}"
    LINES = "text or a list of lines"


@dataclass(frozen=True, slots=True)
class Operation:
    """One verb of the contract.

    `parameters` maps argument names to defaults (`...` where required); `plants` names the argument that brings
    content in; `channel` is where its value is seen; `level` is the innermost id it addresses.
    """

    name: str
    channel: Channel
    shape: Shape
    parameters: Mapping[str, Any] = field(default_factory=dict)
    plants: str = ""
    level: Level = Level.TASK
    operator: bool = False


def _table(*operations: Operation) -> Mapping[str, Operation]:
    return {operation.name: operation for operation in operations}


_ACK, _SESSION, _USER = Channel.ACK, Level.SESSION, Level.USER

OPERATIONS: Mapping[str, Operation] = _table(
    Operation("create_session", _ACK, Shape.IDENTIFIER, {"carry_from": None}, level=_SESSION),
    Operation("delete_session", _ACK, Shape.REPORT, level=_SESSION),
    Operation("archive_session", _ACK, Shape.REPORT, level=_SESSION),
    Operation("session_info", _ACK, Shape.INFO, level=_SESSION),
    Operation("list_sessions", _ACK, Shape.NAMES, level=_USER),
    Operation(
        "append_turn",
        _ACK,
        Shape.TURN_ACK,
        {"text": ..., "role": "user", "expected_version": None},
        plants="text",
    ),
    Operation("list_turns", Channel.TURNS, Shape.TURNS, {"limit": None}, level=_SESSION),
    Operation("run_turn", Channel.REPLY, Shape.REPLY, {"text": ...}, plants="text"),
    Operation("context", Channel.CONTEXT, Shape.SNIPPETS, {"query": ""}),
    Operation("add_memory", _ACK, Shape.IDENTIFIER, {"text": ...}, plants="text", level=_USER),
    Operation("search_memory", Channel.SEARCH, Shape.TEXTS, {"query": ..., "limit": 20}, level=_USER),
    Operation("list_memories", Channel.LIST, Shape.TEXTS, level=_USER),
    Operation("get_memory", Channel.BY_ID, Shape.MEMORY, {"memory_id": ...}, level=_USER),
    Operation("delete_memory", _ACK, Shape.REPORT, {"memory_id": ...}, level=_USER),
    Operation("put_fact", _ACK, Shape.REPORT, {"key": ..., "value": ..., "layer": ...}, plants="value"),
    Operation("get_fact", Channel.FACTS, Shape.FACT, {"key": ..., "at": None}),
    Operation("list_facts", Channel.FACTS, Shape.RECORDS, {"at": None, "include_superseded": False}),
    Operation("delete_fact", _ACK, Shape.REPORT, {"key": ...}),
    Operation("put_artifact", _ACK, Shape.REPORT, {"name": ..., "text": ...}, plants="text"),
    Operation("get_artifact", Channel.ARTIFACTS, Shape.TEXT, {"name": ...}),
    Operation("list_artifacts", Channel.ARTIFACTS, Shape.NAMES),
    Operation("cached_answer", Channel.CACHE, Shape.TEXT, {"query": ...}),
    Operation("purge", _ACK, Shape.REPORT, {"level": ...}),
    Operation("stored_bytes", Channel.BYTES, Shape.PLACES, operator=True),
    Operation("stored_keys", Channel.KEYS, Shape.PLACES, operator=True),
    Operation("side_effects", Channel.METRICS, Shape.RECORDS, operator=True),
    Operation("read_log", Channel.LOG, Shape.LINES, operator=True),
    Operation("metrics", Channel.METRICS, Shape.LINES, operator=True),
    Operation("advance_clock", _ACK, Shape.REPORT, {"seconds": ...}, operator=True),
    Operation("restart", _ACK, Shape.REPORT, operator=True),
    Operation("kill", _ACK, Shape.REPORT, operator=True),
    Operation("pause", _ACK, Shape.REPORT, operator=True),
    Operation("resume", _ACK, Shape.REPORT, operator=True),
)

WRITES = frozenset(name for name, operation in OPERATIONS.items() if operation.plants)
OBSERVATIONS = frozenset(
    name for name, operation in OPERATIONS.items() if operation.channel is not _ACK and not operation.operator
)

ANY_WRITE = " | ".join(sorted(WRITES))
ANY_OBSERVATION = " | ".join(sorted(OBSERVATIONS))
"""Needs that any write, any observation meets."""

_TURN_REACH = {
    Channel.TURNS: Level.SESSION,
    Channel.SEARCH: Level.USER,
    Channel.LIST: Level.USER,
    Channel.BY_ID: Level.USER,
    "*": Level.TASK,
}
"""A turn belongs to its task wherever a model or a caller is shown assembled context, to its session on the bare
listing. A target may distil turns into memories of the user; that is no leak, so memory channels reach the user."""

_REACH: Mapping[str, Mapping[str, Level]] = {
    "append_turn": _TURN_REACH,
    "run_turn": _TURN_REACH,
    "add_memory": {"*": Level.USER},
    "put_artifact": {Channel.TURNS: Level.SESSION, "*": Level.TASK},
}


def reach_of(operation: str, layer: str = "") -> dict[str, Level]:
    """Who may see what `operation` plants: channel → innermost level that must agree, `*` for the others.

    A fact reaches its layer (`user`, `session`, `task`). What reaches a task reaches its session on the bare listing
    of turns: the agent's replies are turns there, and may quote it.
    """
    if operation == "put_fact":
        level = Level[layer.upper()]
        return {str(Channel.TURNS): min(level, Level.SESSION), "*": level}
    return {str(channel): level for channel, level in _REACH[operation].items()}


def lacking(needs: Iterable[str], offered: Iterable[str]) -> tuple[str, ...]:
    """The needs that `offered` does not meet. A need is an operation or alternatives: `append_turn | run_turn`."""
    have = set(offered)
    return tuple(sorted(need for need in needs if not have & {name.strip() for name in need.split("|")}))
