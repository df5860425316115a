"""A right adapter over every content channel, in memory; the wrong ones below each leave one thing out."""

from __future__ import annotations

import base64
from collections import defaultdict
from typing import Any

from partywall.harness import Refused

Key = tuple[str, ...]


class Notebook:
    """Keeps turns per session, memories per user, facts per layer, artifacts per task, answers per task."""

    def __init__(self) -> None:
        self.turns: dict[Key, list[tuple[str, str]]] = defaultdict(list)
        self.memories: dict[str, tuple[Key, str]] = {}
        self.facts: dict[Key, str] = {}
        self.artifacts: dict[Key, str] = {}
        self.answers: dict[Key, str] = {}

    def owner(self, call: Any) -> Key:
        """Tenant and user: the part of every key that names whose it is."""
        return (call.scope.tenant, call.scope.user)

    def session(self, call: Any) -> Key:
        return (*self.owner(call), call.scope.session)

    def task(self, call: Any) -> Key:
        return (*self.session(call), call.scope.task)

    def in_task(self, call: Any, task: str) -> bool:
        """The task filter over a session's history."""
        return bool(task == call.scope.task)

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> dict[str, int]:
        turns = self.turns[self.session(call)]
        turns.append((call.scope.task, text))
        return {"turn": len(turns)}

    def list_turns(self, call: Any, limit: int | None = None) -> list[dict[str, Any]]:
        turns = self.turns[self.session(call)]
        return [{"turn": n, "role": "user", "text": text, "task": task} for n, (task, text) in enumerate(turns, 1)]

    def context(self, call: Any, query: str = "") -> list[str]:
        history = [text for task, text in self.turns[self.session(call)] if self.in_task(call, task)]
        return [*history[-50:], *self.list_facts(call), *self.list_memories(call)]

    def run_turn(self, call: Any, text: str) -> dict[str, Any]:
        self.append_turn(call, text)
        return {"text": "I was given: " + " | ".join(self.context(call, text)), "llm_used": False}

    def add_memory(self, call: Any, text: str) -> str:
        memory_id = f"m{len(self.memories) + 1}"
        self.memories[memory_id] = (self.owner(call), text)
        return memory_id

    def mine(self, call: Any) -> list[str]:
        return [text for owner, text in self.memories.values() if owner == self.owner(call)]

    def search_memory(self, call: Any, query: str, limit: int = 20) -> list[str]:
        words = query.lower().split()
        return [text for text in self.mine(call) if any(word in text.lower() for word in words)][:limit] or []

    def list_memories(self, call: Any) -> list[str]:
        return self.mine(call)

    def get_memory(self, call: Any, memory_id: str) -> str:
        owner, text = self.memories.get(memory_id, ((), ""))
        if owner != self.owner(call):
            raise Refused("no such memory", "not_found")
        return text

    def layer(self, call: Any, layer: str) -> Key:
        return {"user": self.owner, "session": self.session, "task": self.task}[layer](call)

    def put_fact(self, call: Any, key: str, value: str, layer: str) -> None:
        self.facts[(*self.layer(call, layer), layer, key)] = value

    def get_fact(self, call: Any, key: str, at: Any = None) -> str | None:
        for layer in ("task", "session", "user"):
            if (found := self.facts.get((*self.layer(call, layer), layer, key))) is not None:
                return found
        return None

    def list_facts(self, call: Any, at: Any = None, include_superseded: bool = False) -> list[str]:
        places = [(*self.layer(call, layer), layer) for layer in ("task", "session", "user")]
        return [value for key, value in self.facts.items() if key[:-1] in places]

    def put_artifact(self, call: Any, name: str, text: str) -> None:
        self.artifacts[(*self.task(call), name)] = text

    def get_artifact(self, call: Any, name: str) -> str | None:
        return self.artifacts.get((*self.task(call), name))

    def list_artifacts(self, call: Any) -> list[str]:
        return [key[-1] for key in self.artifacts if key[:-1] == self.task(call)]

    def answer_key(self, call: Any, query: str) -> Key:
        return (*self.task(call), query)

    def cached_answer(self, call: Any, query: str) -> str:
        key = self.answer_key(call, query)
        if key not in self.answers:
            self.answers[key] = " ".join(self.context(call, query))
        return self.answers[key]


class WithoutTenant(Notebook):
    def owner(self, call: Any) -> Key:
        return ("", call.scope.user)


class WithoutUser(Notebook):
    def owner(self, call: Any) -> Key:
        return (call.scope.tenant, "")


class WithoutSession(Notebook):
    def session(self, call: Any) -> Key:
        return (*self.owner(call), "")


class WithoutTaskFilter(Notebook):
    def in_task(self, call: Any, task: str) -> bool:
        return True


class ListsWithoutFilter(Notebook):
    def list_memories(self, call: Any) -> list[str]:
        return [text for _, text in self.memories.values()]


class ByIdWithoutOwner(Notebook):
    def get_memory(self, call: Any, memory_id: str) -> str:
        return self.memories[memory_id][1]


class CachesByQuestion(Notebook):
    def answer_key(self, call: Any, query: str) -> Key:
        return (query,)


class DebugsInBase64(Notebook):
    def run_turn(self, call: Any, text: str) -> dict[str, Any]:
        everything = "\n".join(text for turns in self.turns.values() for _, text in turns)
        return {**super().run_turn(call, text), "debug": base64.b64encode(everything.encode()).decode()}


class OverwritesArtifacts(Notebook):
    """The last writer of a name owns it: nobody else sees it, and the first owner's is gone."""

    def put_artifact(self, call: Any, name: str, text: str) -> None:
        for key in [key for key in self.artifacts if key[-1] == name]:
            del self.artifacts[key]
        super().put_artifact(call, name, text)


class DropsEveryWrite(Notebook):
    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> dict[str, int]:
        return {"turn": 1}

    def add_memory(self, call: Any, text: str) -> str:
        return "m1"

    def put_fact(self, call: Any, key: str, value: str, layer: str) -> None:
        return None

    def put_artifact(self, call: Any, name: str, text: str) -> None:
        return None


class DeniesEveryRead(Notebook):
    def list_turns(self, call: Any, *positional: Any, **named: Any) -> list[dict[str, Any]]:
        raise Refused("no", "denied")

    context = run_turn = search_memory = list_memories = get_memory = list_turns  # type: ignore[assignment]
    get_fact = list_facts = get_artifact = list_artifacts = cached_answer = list_turns  # type: ignore[assignment]


class DeniesStrangersOnly(Notebook):
    """Shows acme everything and zeta nothing, its own included: zeta's clean answers prove nothing."""

    def list_turns(self, call: Any, limit: int | None = None) -> list[dict[str, Any]]:
        return super().list_turns(call, limit) if call.scope.tenant.startswith("acme") else []


class TakesSomebodysFact(Notebook):
    """Where mine is missing, anybody's of that key will do: shows only to a newcomer that has none."""

    def get_fact(self, call: Any, key: str, at: Any = None) -> str | None:
        mine = super().get_fact(call, key)
        return mine if mine is not None else next((v for k, v in self.facts.items() if k[-1] == key), None)


class ShowsAllToTheEmptyHanded(Notebook):
    def list_memories(self, call: Any) -> list[str]:
        return super().list_memories(call) or [text for _, text in self.memories.values()]


class AnswersTheEmptyQuestion(Notebook):
    """A search for nothing, or for everything, has no filter."""

    def search_memory(self, call: Any, query: str, limit: int = 20) -> list[str]:
        if query.strip("%* ") == "":
            return [text for _, text in self.memories.values()]
        return super().search_memory(call, query, limit)


class DeletesAnybodysMemory(Notebook):
    def delete_memory(self, call: Any, memory_id: str) -> None:
        self.memories.pop(memory_id, None)


class TitlesSessionsWithAnybodysTurns(Notebook):
    def list_sessions(self, call: Any) -> list[str]:
        return [text for turns in self.turns.values() for _, text in turns]


class JoinsIdsByDash(Notebook):
    """acme-eu + ann and acme + eu-ann are one owner."""

    def owner(self, call: Any) -> Key:
        return (f"{call.scope.tenant}-{call.scope.user}",)


class StoresAndThenFails(Notebook):
    """Every write is applied and none is acknowledged: what may leak was never known to be there."""

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> dict[str, int]:
        super().append_turn(call, text, role)
        raise RuntimeError("boom")

    def run_turn(self, call: Any, text: str) -> dict[str, Any]:
        super().run_turn(call, text)
        raise RuntimeError("boom")

    def add_memory(self, call: Any, text: str) -> str:
        super().add_memory(call, text)
        raise RuntimeError("boom")

    def put_fact(self, call: Any, key: str, value: str, layer: str) -> None:
        super().put_fact(call, key, value, layer)
        raise RuntimeError("boom")

    def put_artifact(self, call: Any, name: str, text: str) -> None:
        super().put_artifact(call, name, text)
        raise RuntimeError("boom")
