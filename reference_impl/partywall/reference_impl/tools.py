"""The one gate of all tool calls: name, schema and arguments of every call before any of them runs.

Whose memory a call touches comes from the server's context: no schema has a place for a tenant, a user or a session.
Tools are offered only where the user's own words ask for what they do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from partywall.canaries import Level, Scope
from pydantic import Field

from . import wire
from .caches import Caches, Purpose
from .clock import Clock
from .facts import Assertion, canonical
from .layers import Layer
from .llm import ModelOutputInvalid, Offer, ToolCall
from .log import Log
from .metrics import Metrics
from .refusals import Invalid
from .retrieval import Retrieval
from .store import FactTable, MemoryTable

MOST_CALLS = 8
EVENT = "tool"
"""The log's event of an effect: the ledger is read from there, so that a purge of its owner erases it too."""


class Remember(wire.Strict):
    """Note a fact of this session."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
    value: Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"\S")]


class DeleteMemory(wire.Strict):
    """Delete the user's memories of these ids whose text holds `where`; at least one of the two is needed."""

    ids: Annotated[list[str], Field(min_length=1, max_length=100)] | None = None
    where: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None

    @property
    def limited(self) -> bool:
        """Whether anything limits what is deleted."""
        return self.ids is not None or self.where is not None


class LookUp(wire.Strict):
    """Look up the user's memories that hold any of the words."""

    words: Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"\S")]


Body = Remember | DeleteMemory | LookUp
TOOLS: Mapping[str, type[Body]] = {"remember": Remember, "delete_memory": DeleteMemory, "look_up": LookUp}
LOOKED_UP = 5
_ASKED_FOR = {
    "look_up": re.compile(r"(?i)\blook(?: |_)up\b"),
    "remember": re.compile(r"(?i)\bremember\b|\bnote\b"),
    "delete_memory": re.compile(r"(?i)\b(?:forget|delete|remove)(?:\b|_)"),
}


@dataclass(frozen=True, slots=True)
class Done:
    """What the calls of one answer did, in words and as records of the tools used."""

    text: str
    records: tuple[dict[str, object], ...]


class Tools:
    """Validates and runs the tool calls of one turn."""

    def __init__(
        self,
        facts: FactTable,
        memories: MemoryTable,
        retrieval: Retrieval,
        caches: Caches,
        clock: Clock,
        metrics: Metrics,
        log: Log,
    ) -> None:
        self._facts = facts
        self._memories = memories
        self._retrieval = retrieval
        self._caches = caches
        self._clock = clock
        self._metrics = metrics
        self._log = log

    def offered(self, text: str) -> tuple[Offer, ...]:
        """The tools that a message asks for; none for most."""
        wanted = [name for name, words in _ASKED_FOR.items() if words.search(text)]
        return tuple(Offer(name, TOOLS[name].__doc__ or "", _schema(TOOLS[name])) for name in wanted)

    async def run(self, scope: Scope, offered: Sequence[Offer], calls: Sequence[ToolCall], turn: int) -> Done:
        """Run the calls in order. Raises ModelOutputInvalid, and runs none, where any is not as it must be."""
        if len(calls) > MOST_CALLS:
            raise ModelOutputInvalid("too many tool calls")
        names = {offer.name for offer in offered}
        bodies = [(call.name, self.read(names, call)) for call in calls]
        records: list[dict[str, object]] = []
        said = []
        for name, body in bodies:
            if isinstance(body, Remember):
                count = await self._remember(scope, body, turn)
                said.append("I have noted it.")
            elif isinstance(body, LookUp):
                found = await self._look_up(scope, body)
                count = len(found)
                said.append("\n- ".join([f"I have found {count} memories.", *found]))
            else:
                count = await self._delete(scope, body)
                said.append(f"I have deleted {count} memories.")
            self._log.write(EVENT, scope, tool=name, count=count)
            records.append({"tool": name, "count": count})
        return Done(" ".join(said), tuple(records))

    def read(self, names: set[str], call: ToolCall) -> Body:
        """The arguments of a call as its tool takes them. Raises ModelOutputInvalid, never repeating them.

        A name is matched whole: `functions.remember` is no `remember`. What cannot be read is never taken for `{}`.
        """
        if call.name not in names:
            raise ModelOutputInvalid("a tool that was not offered")
        try:
            body = wire.read(TOOLS[call.name], call.arguments.encode("utf-8", "surrogatepass"))
        except Invalid:
            raise ModelOutputInvalid("tool arguments that do not fit") from None
        assert isinstance(body, Body)
        if isinstance(body, DeleteMemory) and not body.limited:
            raise ModelOutputInvalid("a deletion without a limit")
        return body

    async def _remember(self, scope: Scope, body: Remember, turn: int) -> int:
        claim = Assertion(body.name, canonical(body.value), Layer.SESSION, self._clock.now(), turn)
        if await self._facts.put(scope, claim):
            self._metrics.superseded()
        self._metrics.layer_write(Layer.SESSION)
        await self._caches.changed(Layer.SESSION.owner(scope), Level.SESSION)
        return 1

    async def _look_up(self, scope: Scope, body: LookUp) -> list[str]:
        """The texts found. The result of a tool that only reads is kept, under the tool's name and arguments."""
        key = self._caches.key(scope, Purpose.TOOL, {"tool": "look_up", "words": body.words})

        async def made() -> str:
            return json.dumps([chunk.text for chunk in await self._retrieval.search(scope, body.words, LOOKED_UP)])

        found: list[str] = json.loads(await self._caches.through(scope, key, made))
        return found

    async def _delete(self, scope: Scope, body: DeleteMemory) -> int:
        count = 0
        for chunk in await self._memories.all(scope):
            if (body.ids is None or chunk.chunk_id in body.ids) and (body.where is None or body.where in chunk.text):
                count += await self._memories.delete(scope, chunk.chunk_id)
        if count:
            await self._caches.changed(scope, Level.USER)
        return count


def _schema(body: type[wire.Strict]) -> dict[str, Any]:
    schema = body.model_json_schema()
    schema.pop("description", None)
    return schema
