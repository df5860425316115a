"""A right adapter with a clock: sessions end, facts are superseded, results are cached, all by whose they are."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from partywall.harness import Refused

from .notebook import Key, Notebook

LIFETIME, IDLE, ARCHIVE, MOST, CONDENSE = 1000.0, 50.0, 500.0, 200, 180
USUAL = 20
RECALLED = 5


class Almanac(Notebook):
    """Computes what a session is from its birth; keeps versions of facts; caches by owner, purpose and fingerprint."""

    threadsafe = False
    promises = {  # noqa: RUF012
        "order": "index",
        "read": "full",
        "lifetime": LIFETIME,
        "idle_after": IDLE,
        "archive_after": ARCHIVE,
        "max_turns": MOST,
        "condense_at": CONDENSE,
    }

    def __init__(self) -> None:
        super().__init__()
        self.offset = 0.0
        self.given = 0
        self.born: dict[Key, float] = {}
        self.used: dict[Key, float] = {}
        self.archived: set[Key] = set()
        self.dropped: Counter[Key] = Counter()
        self.versions: dict[Key, list[dict[str, Any]]] = defaultdict(list)
        self.cache: dict[Key, Any] = {}
        self.writes: Counter[str] = Counter()
        self.ledger: list[dict[str, Any]] = []
        self.pending: dict[Key, str] = {}

    # the clock and the session's life

    def advance_clock(self, call: Any, seconds: float) -> None:
        self.offset += seconds

    def now(self) -> float:
        return time.time() + self.offset

    def end(self, key: Key) -> float:
        return self.born[key] + LIFETIME

    def state(self, key: Key) -> str:
        if key in self.archived or self.now() >= self.end(key) + ARCHIVE:
            return "archived"
        if self.now() >= self.end(key):
            return "expired"
        return "idle" if self.now() - self.used[key] >= IDLE else "active"

    def tidied(self, call: Any) -> Key:
        """The session's key, its text cleared where it is archived by now."""
        key = self.session(call)
        if key in self.born and self.state(key) == "archived" and key not in self.archived:
            self.archive(call)
        return key

    def archive(self, call: Any) -> None:
        self.archived.add(self.session(call))
        self.turns[self.session(call)] = []
        self.forget(call)

    def open(self, call: Any) -> Key:
        """The session for a write; Refused where it has ended."""
        key = self.tidied(call)
        self.born.setdefault(key, self.now())
        self.used.setdefault(key, self.now())
        if self.state(key) in ("expired", "archived"):
            raise Refused("the session has ended", "expired")
        self.used[key] = self.now()
        return key

    def create_session(self, call: Any, carry_from: str | None = None) -> str:
        key = self.open(call)
        self.writes["session"] += 1
        if carry_from:
            self.carry((*self.owner(call), carry_from), key)
        return str(call.scope.session)

    def carry(self, source: Key, target: Key) -> None:
        for place, versions in list(self.versions.items()):
            if place[:3] == source and place[-2] == "task":
                self.versions[(*target, *place[3:])] = [dict(version) for version in versions]

    def session_info(self, call: Any) -> dict[str, Any]:
        key = self.tidied(call)
        if key not in self.born:
            raise Refused("no such session", "not_found")
        return {"state": self.state(key), "turns": len(self.turns[key]), "expires_at": self.end(key), "version": 1}

    def archive_session(self, call: Any) -> None:
        if self.tidied(call) not in self.born:
            raise Refused("no such session", "not_found")
        self.archive(call)

    # turns

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> dict[str, int]:
        key = self.open(call)
        self.turns[key].append((call.scope.task, text))
        self.writes["session"] += 1
        number = self.dropped[key] + len(self.turns[key])
        self.condense(call, key)
        self.forget(call)
        return {"turn": number}

    def condense(self, call: Any, key: Key) -> None:
        """Early turns become a fact of the task that each belongs to."""
        if len(self.turns[key]) < CONDENSE:
            return
        early, self.turns[key] = self.turns[key][: CONDENSE // 2], self.turns[key][CONDENSE // 2 :]
        self.dropped[key] += len(early)
        for task in {task for task, _ in early}:
            told = " / ".join(text for of, text in early if of == task)
            self.assert_fact((*key, task, "task", f"summary-{self.dropped[key]}"), told, "task")

    def list_turns(self, call: Any, limit: int | None = None) -> list[dict[str, Any]]:
        key = self.tidied(call)
        first = self.dropped[key] + 1
        return [
            {"turn": n, "role": "user", "text": text, "task": t} for n, (t, text) in enumerate(self.turns[key], first)
        ]

    def run_turn(self, call: Any, text: str) -> dict[str, Any]:
        self.append_turn(call, text)
        if "use tool look_up" in text:
            value = text.split('"words": "')[1].split('"')[0]
            self.pending[self.waiting(call)] = value
            self.called(call, "look_up", value)
        if text == "yes" and self.waiting(call) in self.pending:
            self.called(call, "cancel", self.pending.pop(self.waiting(call)))
        return {"text": "I was given: " + " | ".join(self.context(call, text)), "llm_used": False}

    def waiting(self, call: Any) -> Key:
        """Whose open question a short reply answers."""
        return self.task(call)

    def called(self, call: Any, tool: str, value: str) -> None:
        self.ledger.append(
            {"tool": tool, "arguments": {"value": value}, "tenant": call.scope.tenant, "user": call.scope.user}
        )

    def side_effects(self, call: Any) -> list[dict[str, Any]]:
        return list(self.ledger)

    def context(self, call: Any, query: str = "") -> list[str]:
        history = [text for task, text in self.turns[self.tidied(call)] if self.in_task(call, task)]
        facts = [str(fact["value"]) for fact in self.seen(call)]
        return [*history[-50:], *facts, *self.recall(call, query)]

    # facts

    def put_fact(self, call: Any, key: str, value: str, layer: str) -> None:
        if layer != "user":
            self.open(call)
        self.assert_fact((*self.layer(call, layer), layer, key), value, layer)
        self.forget(call)

    def assert_fact(self, place: Key, value: str, layer: str) -> None:
        versions = self.versions[place]
        self.writes[layer] += 1
        if versions and versions[-1]["value"] == value:
            return
        begins = max([self.now(), *(version["valid_from"] + 1e-6 for version in versions)])
        if versions:
            versions[-1].update(valid_to=begins, superseded_by=len(versions) + 1)
        versions.append(
            {
                "key": place[-1],
                "value": value,
                "layer": layer,
                "version": len(versions) + 1,
                "valid_from": begins,
                "valid_to": None,
                "superseded_by": None,
            }
        )

    def held(self, version: dict[str, Any], at: float) -> bool:
        return version["valid_from"] <= at and (version["valid_to"] is None or at < version["valid_to"])

    def seen(self, call: Any, at: float | None = None, everything: bool = False) -> Iterator[dict[str, Any]]:
        """Versions that the scope sees, innermost layer first."""
        for layer in ("task", "session", "user"):
            for place, versions in self.versions.items():
                if place[:-1] == (*self.layer(call, layer), layer):
                    for version in versions:
                        wanted = self.held(version, at) if at is not None else version["valid_to"] is None
                        if wanted or everything:
                            yield dict(version)

    def get_fact(self, call: Any, key: str, at: Any = None) -> Any:
        return next((fact for fact in self.seen(call, at) if fact["key"] == key), None)

    def list_facts(self, call: Any, at: Any = None, include_superseded: bool = False) -> list[Any]:
        return list(self.seen(call, at, include_superseded))

    def delete_fact(self, call: Any, key: str) -> None:
        for layer in ("task", "session", "user"):
            if self.versions.pop((*self.layer(call, layer), layer, key), None):
                self.forget(call)
                return
        raise Refused("no such fact", "not_found")

    def put_artifact(self, call: Any, name: str, text: str) -> None:
        self.open(call)
        self.writes["task"] += 1
        super().put_artifact(call, name, text)

    # memories and caches

    def add_memory(self, call: Any, text: str) -> str:
        self.writes["user"] += 1
        self.forget(call)
        self.given += 1
        self.memories[f"m{self.given}"] = (self.owner(call), text)
        return f"m{self.given}"

    def forget(self, call: Any) -> None:
        """Drop what rested on anything of this user."""
        for key in [key for key in self.cache if key[:2] == self.owner(call)]:
            del self.cache[key]

    def fingerprint(self, payload: dict[str, Any]) -> str:
        return json.dumps(payload, sort_keys=True)

    def through(self, scope: Key, purpose: str, payload: dict[str, Any], make: Callable[[], Any]) -> Any:
        key = (*scope, purpose, self.fingerprint(payload))
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    def search_memory(self, call: Any, query: str, limit: int = USUAL) -> list[str]:
        payload = {"query": query, "limit": limit}
        find = super().search_memory
        return list(self.through(self.owner(call), "search", payload, lambda: find(call, query, limit)))

    def recall(self, call: Any, query: str) -> list[str]:
        """What a context gets: the best few."""
        payload = {"query": query, "limit": USUAL}
        best = [*super().search_memory(call, query), *reversed(self.mine(call))][:RECALLED]
        return list(self.through(self.owner(call), "rerank", payload, lambda: best))

    def cached_answer(self, call: Any, query: str) -> str:
        def made() -> str:
            return f"You asked: {query} " + " | ".join(self.context(call, query))

        return str(self.through(self.task(call), "answer", {"query": query}, made))

    # the operator's views, and purging

    def metrics(self, call: Any) -> str:
        return "\n".join(
            f'partywall_layer_writes_total{{layer="{layer}"}} {self.writes[layer]}'
            for layer in ("session", "task", "user")
        )

    def at_rest(self) -> dict[str, dict[Key, Any]]:
        """Everything kept, by place and by whose it is."""
        main: dict[Key, Any] = {**self.turns, **self.versions, **self.artifacts}
        main |= {(*owner, number): text for number, (owner, text) in self.memories.items()}
        return {"main": main, "cache": self.cache}

    def stored_bytes(self, call: Any) -> dict[str, list[str]]:
        return {
            place: [json.dumps([key, held]) for key, held in kept.items()] for place, kept in self.at_rest().items()
        }

    def purge(self, call: Any, level: str) -> dict[str, int]:
        depth = {"tenant": 1, "user": 2, "session": 3, "task": 4}[level]
        path = self.task(call)[:depth]
        gone = 0
        for kept in (self.turns, self.versions, self.artifacts, self.cache, self.born):
            for key in [key for key in kept if self.falls(key, path)]:
                del kept[key]
                gone += 1
        for number in [n for n, (owner, _) in self.memories.items() if depth < 3 and self.falls(owner, path)]:
            del self.memories[number]
        return {"removed": gone}

    def falls(self, key: Key, path: Key) -> bool:
        """Whether a purge of `path` takes what is kept under `key`."""
        return key[: len(path)] == path
