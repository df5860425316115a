"""Search over the owner's memories: the scope is part of the query, never a filter on its result."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable

from partywall.canaries import Scope

from .caches import Caches, Purpose
from .embedding import Vector, embed, nearness
from .keys import Key
from .knowledge import KnowledgeChunk
from .store import MemoryTable
from .words import words

MOST_TERMS = 64
MOST_CACHED = 100
"""Results kept of one search; who wants more is served from the store."""


class Retrieval:
    """Finds memories of one tenant and user.

    Ranked by how many of the query's words they hold, newest first among equals. Not by BM25: its word
    frequencies are counted over the whole index, so that a neighbour's text would move this owner's order.
    """

    def __init__(self, memories: MemoryTable, caches: Caches) -> None:
        self._memories = memories
        self._caches = caches

    async def search(self, scope: Scope, query: str, limit: int = 20) -> list[KnowledgeChunk]:
        """The best `limit` memories that hold any word of the query."""
        if limit > MOST_CACHED:
            return await self._found(scope, query, limit)
        key = self._caches.key(scope, Purpose.RETRIEVAL, {"query": query})
        found = await self._through(scope, key, lambda: self._found(scope, query, MOST_CACHED))
        return found[:limit]

    async def recall(self, scope: Scope, query: str, limit: int) -> list[KnowledgeChunk]:
        """What a context gets, `limit` in all: matches first, then by nearness, with the newest among them."""
        key = self._caches.key(scope, Purpose.RERANK, {"query": query})
        found = await self._through(scope, key, lambda: self._reranked(scope, query, limit))
        return found[:limit]

    async def _found(self, scope: Scope, query: str, limit: int) -> list[KnowledgeChunk]:
        words = terms(query)
        found = await self._memories.match(scope, words)
        ranked = sorted(enumerate(found), key=lambda each: (-_score(each[1].text, words), -each[0]))
        return [chunk for _, chunk in ranked[:limit]]

    async def _reranked(self, scope: Scope, query: str, limit: int) -> list[KnowledgeChunk]:
        vector = embed(query)
        found = await self.search(scope, query, limit)
        beside = [*await self._memories.nearest(scope, vector, limit), *await self._memories.newest(scope, limit)]
        known = {chunk.chunk_id for chunk in found}
        others = {chunk.chunk_id: chunk for chunk in beside if chunk.chunk_id not in known}
        return (found + sorted(others.values(), key=lambda chunk: -_near(chunk, vector)))[:limit]

    async def _through(
        self, scope: Scope, key: Key, make: Callable[[], Awaitable[list[KnowledgeChunk]]]
    ) -> list[KnowledgeChunk]:
        async def made() -> str:
            return _written(await make())

        return _read(await self._caches.through(scope, key, made))


def terms(query: str) -> list[str]:
    """The query's distinct words, in order; letters and digits only, so none is full-text syntax."""
    return words(query)[:MOST_TERMS]


def _score(text: str, words: list[str]) -> int:
    return len(set(words) & set(terms(text)))


def _near(chunk: KnowledgeChunk, vector: Vector) -> float:
    return nearness(embed(chunk.text), vector)


def _written(chunks: Iterable[KnowledgeChunk]) -> str:
    return json.dumps([[chunk.chunk_id, chunk.text, dict(chunk.metadata)] for chunk in chunks])


def _read(text: str) -> list[KnowledgeChunk]:
    return [KnowledgeChunk(said, chunk_id, metadata) for chunk_id, said, metadata in json.loads(text)]
