"""Versions: what was asserted of each fact, and what answers told of it since when and until when it held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from partywall.canaries import Level

from ..observe.history import History, Invoked
from ..plan.leaves import leaves
from .timeline import timeline_of

_ENDING = ("delete_fact", "delete_session", "archive_session", "purge")
_LONG = 60.0
"""A clock that is moved on by more seconds than this may end what a session keeps."""


@dataclass(frozen=True, slots=True)
class Run:
    """One value of a fact, asserted once or several times in a row: by the first and the last of these calls."""

    value: str
    first: Invoked
    last: Invoked
    settled: int
    """When the last of them was answered."""


@dataclass(frozen=True, slots=True)
class Told:
    """One answer that the owner was given of a fact. `records` are versions with times; `texts` all that it said.

    `at` is the instant that was asked about, None for now; `everything` says that superseded versions were asked for.
    """

    call: Invoked
    records: tuple[Mapping[str, Any], ...]
    texts: tuple[str, ...]
    at: float | None
    everything: bool


@dataclass(slots=True)
class Chain:
    """One fact: its values in the order in which they were asserted, and what was told of it."""

    path: tuple[str | None, ...]
    layer: str
    key: str
    runs: list[Run] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)

    @property
    def again(self) -> bool:
        """Whether some value was asserted more than once in a row."""
        return any(run.first is not run.last for run in self.runs)


def chains_of(history: History) -> list[Chain]:
    """The facts of a history that were asserted more than once and can be followed: one call after the other, all of
    them answered, under a key of one layer, no value coming back. What is told after anything that may end the fact is
    left out."""
    chains: dict[tuple[tuple[str | None, ...], str], Chain] = {}
    lost: set[tuple[tuple[str | None, ...], str]] = set()
    end = _end(history)
    for call in history.invocations.values():
        if call.op != "put_fact" or call.caller != call.scope[:2] or call.at > end:
            continue
        outcome = history.outcome(call.probe)
        if outcome.status == "fail":
            continue
        layer, key = str(call.arguments.get("layer")), str(call.arguments.get("key"))
        name = (call.scope[:2], key)
        chain = chains.setdefault(name, Chain(_prefix(call, layer), layer, key))
        completed = history.completions.get(call.probe)
        followed = bool(chain.runs) and chain.runs[-1].settled >= call.at
        if outcome.status == "info" or completed is None or followed or chain.path != _prefix(call, layer):
            lost.add(name)
            continue
        value = str(call.arguments.get("value"))
        if chain.runs and chain.runs[-1].value == value:
            chain.runs[-1] = Run(value, chain.runs[-1].first, call, completed.at)
        else:
            if any(run.value == value for run in chain.runs):
                lost.add(name)
            chain.runs.append(Run(value, call, call, completed.at))
    changed = [chain for name, chain in chains.items() if name not in lost and (len(chain.runs) > 1 or chain.again)]
    for chain in changed:
        chain.told = list(_told(history, chain, end))
    return changed


def instant(value: Any) -> float | None:
    """An instant as seconds, where it is a number or an ISO 8601 text; None otherwise."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except ValueError:
        return None


def _prefix(call: Invoked, layer: str) -> tuple[str | None, ...]:
    level = {"user": Level.USER, "session": Level.SESSION}.get(layer, Level.TASK)
    return call.scope[:level]


def _end(history: History) -> float:
    """When the first call was sent that may end a fact."""
    ends = [
        call.at
        for call in history.invocations.values()
        if (call.op in _ENDING or (call.op == "advance_clock" and float(call.arguments.get("seconds") or 0) > _LONG))
        and history.outcome(call.probe).status != "fail"
    ]
    return min(ends, default=float("inf"))


def _told(history: History, chain: Chain, end: float) -> Iterator[Told]:
    for call in timeline_of(history).between(chain.path[:2], ("get_fact", "list_facts"), 0, end):
        outcome = history.outcome(call.probe)
        mine = call.caller == call.scope[:2] and call.scope[: len(chain.path)] == chain.path
        if not mine or outcome.status != "ok":
            continue
        if call.op == "get_fact" and call.arguments.get("key") != chain.key:
            continue
        items = outcome.value if isinstance(outcome.value, list) else [outcome.value]
        about = [item for item in items if _is_about(item, chain)]
        records = tuple(item for item in about if isinstance(item, Mapping) and "valid_from" in item)
        asked = call.arguments.get("at")
        at = None if asked is None else instant(asked)
        if asked is None or at is not None:
            said = tuple(text for item in about for _, text in leaves(item))
            yield Told(call, records, said, at, bool(call.arguments.get("include_superseded")))


def _is_about(item: Any, chain: Chain) -> bool:
    """Whether a part of an answer may be of this fact: a record that names its key and layer, or a bare value."""
    if not isinstance(item, Mapping):
        return True
    return bool(item.get("key", chain.key) == chain.key and item.get("layer", chain.layer) == chain.layer)


def run_of(record: Mapping[str, Any], runs: Iterable[Run]) -> Run | None:
    """Which value a version tells."""
    said = [text for _, text in leaves(record.get("value"))]
    return next((run for run in runs if any(run.value in text for text in said)), None)
