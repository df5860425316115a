"""Deployments in this process: one that does everything right, and for each demonstration some that do not."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from partywall.harness import Call, Refused
from partywall.harness.demos.four_states import LIMITS

Owner = tuple[str | None, ...]


class Sound:
    """Keeps four scopes apart, numbers turns under a lock, ends sessions, supersedes facts, purges five places."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.turns: dict[Owner, list[tuple[str | None, str]]] = {}
        self.life: dict[Owner, list[float]] = {}  # created, last active
        self.requests: dict[Owner, tuple[int, str]] = {}
        self.memories: list[tuple[str, str]] = []
        self.facts: dict[Owner, list[dict[str, Any]]] = {}
        self.artifacts: dict[str, str] = {}
        self.cache: dict[str, str] = {}
        self.log: list[str] = []

    def append_turn(self, call: Call, text: str, role: str = "user", expected_version: int | None = None) -> Any:
        session = call.scope.path[:3]
        self.log.append(f"t{call.scope.tenant}|u#00000000|s{call.scope.session}|k{call.scope.task}")
        with self.lock:
            return self.append(call, session, text, expected_version)

    def append(self, call: Call, session: Owner, text: str, expected: int | None) -> dict[str, int]:
        if session in self.life and self.state(session) in ("expired", "archived"):
            raise Refused(f"session t{session[0]}|u#00000000|s{session[2]}|k{call.scope.task} has expired", "expired")
        known = self.requests.get(self.request(call)) if call.request_id else None
        if known is not None:
            if known[1] != text:
                raise Refused("used for another request", "conflict")
            return {"turn": known[0]}
        actual = len(self.turns[session]) if session in self.turns else None
        if expected is not None and expected != actual:
            raise Refused(json.dumps({"expected": expected, "actual": actual}), "conflict")
        turns = self.turns.setdefault(session, [])
        turns.append((call.scope.task, text))
        now = time.time()
        self.life.setdefault(session, [now, now])[1] = now
        self.requests[self.request(call)] = (len(turns), text)
        return {"turn": len(turns)}

    def request(self, call: Call) -> Owner:
        return (*call.scope.path[:3], call.request_id)

    def list_turns(self, call: Call, limit: int | None = None) -> list[dict[str, Any]]:
        turns = self.turns.get(call.scope.path[:3], [])
        return [{"turn": number, "text": text} for number, (_, text) in enumerate(turns, 1)]

    def session_info(self, call: Call) -> dict[str, Any]:
        session = call.scope.path[:3]
        state = self.state(session)
        if state == "archived":
            self.archive(session)
        turns = len(self.turns[session])
        return {"state": state, "turns": turns, "expires_at": self.end(session), "version": turns}

    def archive(self, session: Owner) -> None:
        self.turns[session] = []

    def end(self, session: Owner) -> float:
        return self.life[session][0] + LIMITS["lifetime"]

    def state(self, session: Owner) -> str:
        now = time.time()
        if now >= self.end(session) + LIMITS["archive_after"]:
            return "archived"
        if now >= self.end(session):
            return "expired"
        return "idle" if now - self.life[session][1] >= LIMITS["idle_after"] else "active"

    def context(self, call: Call, query: str = "") -> list[str]:
        return [text for task, text in self.turns.get(call.scope.path[:3], []) if task == call.scope.task]

    def cached_answer(self, call: Call, query: str) -> str:
        key = self.cache_key(call, hashlib.sha256(query.encode()).hexdigest()[:16])
        return self.cache.setdefault(key, "\n".join(self.context(call)))

    def cache_key(self, call: Call, fingerprint: str) -> str:
        tenant, user, session, task = call.scope.path
        return f"t{tenant}|u{user}|s{session}|k{task}|panswer|h{fingerprint}"

    def add_memory(self, call: Call, text: str) -> None:
        self.memories.append((f"t{call.scope.tenant}|u{call.scope.user}|", text))

    def search_memory(self, call: Call, query: str, limit: int = 20) -> list[str]:
        owner = f"t{call.scope.tenant}|u{call.scope.user}|"
        return [text for key, text in self.memories if key == owner and query in text.lower()]

    def put_fact(self, call: Call, key: str, value: str, layer: str) -> None:
        chain, now = self.facts.setdefault((*call.scope.path, key), []), time.time()
        if chain and chain[-1]["value"] == value:
            return
        number = len(chain) + 1
        if chain:
            chain[-1].update(valid_to=now, superseded_by=number)
        chain.append({"value": value, "version": number, "valid_from": now, "valid_to": None, "superseded_by": None})

    def get_fact(self, call: Call, key: str, at: float | None = None) -> Any:
        return next(iter(held(self.facts.get((*call.scope.path, key), []), at)), None)

    def list_facts(self, call: Call, at: float | None = None, include_superseded: bool = False) -> list[Any]:
        chains = [chain for owner, chain in self.facts.items() if owner[:4] == call.scope.path]
        return [fact for chain in chains for fact in (chain if include_superseded else held(chain, at))]

    def put_artifact(self, call: Call, name: str, text: str) -> None:
        self.artifacts[self.place(call, name)] = text

    def get_artifact(self, call: Call, name: str) -> str | None:
        return self.artifacts.get(self.place(call, name))

    def place(self, call: Call, name: str) -> str:
        return "t" + "/".join(map(str, call.scope.path)) + f"/{name}"

    def stored_bytes(self, call: Call) -> dict[str, list[str]]:
        return {
            "main": [text for turns in self.turns.values() for _, text in turns],
            "cache": list(self.cache.values()),
            "index": [text for _, text in self.memories],
            "log": self.log,
            "objects": list(self.artifacts.values()),
        }

    def stored_keys(self, call: Call) -> dict[str, list[str]]:
        sessions = ["".join(f"{letter}{part}|" for letter, part in zip("tus", key, strict=True)) for key in self.turns]
        return {"main": sessions, "cache": list(self.cache), "log": self.log, "objects": list(self.artifacts)}

    def purge(self, call: Call, level: str) -> dict[str, Any]:
        tenant = str(call.scope.tenant)
        return {"done": True, "removed": {place: erase(tenant) for place, erase in self.erasers().items()}}

    def erasers(self) -> dict[str, Callable[[str], int]]:
        def main(tenant: str) -> int:
            return dropped(self.turns, lambda key: self.reached(f"{key[0]}|", f"{tenant}|"))

        def cache(tenant: str) -> int:
            return dropped(self.cache, lambda key: self.reached(str(key), f"t{tenant}|"))

        def index(tenant: str) -> int:
            return kept(self.memories, lambda item: not self.reached(item[0], f"t{tenant}|"))

        def log(tenant: str) -> int:
            return kept(self.log, lambda line: not self.reached(line, f"t{tenant}|"))

        def objects(tenant: str) -> int:
            return dropped(self.artifacts, lambda key: self.reached(str(key), f"t{tenant}/"))

        return {"main": main, "cache": cache, "index": index, "log": log, "objects": objects}

    def reached(self, key: str, prefix: str) -> bool:
        return key.startswith(prefix)


def held(chain: list[dict[str, Any]], at: float | None) -> list[dict[str, Any]]:
    now = time.time() + 1e6 if at is None else at
    return [f for f in chain if f["valid_from"] <= now and (f["valid_to"] is None or now < f["valid_to"])]


def dropped(entries: dict[Any, Any], doomed: Callable[[Any], bool]) -> int:
    keys = [key for key in entries if doomed(key)]
    for key in keys:
        del entries[key]
    return len(keys)


def kept(entries: list[Any], stays: Callable[[Any], bool]) -> int:
    left = [entry for entry in entries if stays(entry)]
    gone = len(entries) - len(left)
    entries[:] = left
    return gone


class QuestionOnly(Sound):
    """The cache is keyed by the question alone."""

    def cache_key(self, call: Call, fingerprint: str) -> str:
        return f"h{fingerprint}"


class MixedTasks(Sound):
    """The context is the whole session's."""

    def context(self, call: Call, query: str = "") -> list[str]:
        return [text for _, text in self.turns.get(call.scope.path[:3], [])]


class LostUpdates(Sound):
    """The whole session is read, changed and written back, and nothing keeps two writers apart."""

    def append_turn(self, call: Call, text: str, role: str = "user", expected_version: int | None = None) -> Any:
        turns = [*self.turns.get(call.scope.path[:3], []), (call.scope.task, text)]
        time.sleep(0.02)
        self.turns[call.scope.path[:3]] = turns
        self.life.setdefault(call.scope.path[:3], [time.time()] * 2)
        return {"turn": len(turns)}


class LastWriterWins(Sound):
    """The version that was read is taken and looked at by nobody."""

    def append(self, call: Call, session: Owner, text: str, expected: int | None) -> dict[str, int]:
        return super().append(call, session, text, None)


class Forgetful(Sound):
    """No request id is remembered."""

    def request(self, call: Call) -> Owner:
        return (object(),)  # type: ignore[return-value]


class SharedRequests(Sound):
    """One request id is one request, whoever sends it."""

    def request(self, call: Call) -> Owner:
        return (call.request_id,)


class EndlessRenewal(Sound):
    """Activity moves the end."""

    def end(self, session: Owner) -> float:
        return self.life[session][1] + LIMITS["lifetime"]


class Unarchived(Sound):
    """The state is told, and the text stays."""

    def archive(self, session: Owner) -> None:
        pass


class FalselyArchived(Unarchived):
    """It also says that it can archive."""

    def archive_session(self, call: Call) -> None:
        pass


class Overwritten(Sound):
    """A new value takes the place of the old one."""

    def put_fact(self, call: Call, key: str, value: str, layer: str) -> None:
        self.facts.pop((*call.scope.path, key), None)
        super().put_fact(call, key, value, layer)


class OverReaching(Sound):
    """A purge takes every tenant whose name begins alike."""

    def reached(self, key: str, prefix: str) -> bool:
        return key.startswith(prefix[:-1])


class Residue(Sound):
    """A purge forgets the cache, and confirms it all the same."""

    def erasers(self) -> dict[str, Callable[[str], int]]:
        return {**super().erasers(), "cache": lambda tenant: 1}


class Unconfirmed(Sound):
    """A purge that one system did not confirm."""

    def purge(self, call: Call, level: str) -> dict[str, Any]:
        report = super().purge(call, level)
        del report["removed"]["index"]
        return report


class Silent(Sound):
    """Its answers never come: nobody knows what became of a call."""

    def append_turn(self, call: Call, text: str, role: str = "user", expected_version: int | None = None) -> Any:
        raise TimeoutError("no answer")


class Denying(Sound):
    """Refuses everything."""

    def append_turn(self, call: Call, text: str, role: str = "user", expected_version: int | None = None) -> Any:
        raise Refused("no", "denied")
