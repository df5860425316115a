"""Search over the owner's memories: the scope is part of the query, never a filter on its result."""

from __future__ import annotations

import re

from partywall.canaries import Scope

from .knowledge import KnowledgeChunk
from .store import MemoryTable

MOST_TERMS = 64


class Retrieval:
    """Finds memories of one tenant and user.

    Ranked by how many of the query's words they hold, newest first among equals. Not by BM25: its word
    frequencies are counted over the whole index, so that a neighbour's text would move this owner's order.
    """

    def __init__(self, memories: MemoryTable) -> None:
        self._memories = memories

    async def search(self, scope: Scope, query: str, limit: int = 20) -> list[KnowledgeChunk]:
        """The best `limit` memories that hold any word of the query."""
        words = terms(query)
        found = await self._memories.match(scope, words)
        ranked = sorted(enumerate(found), key=lambda each: (-_score(each[1].text, words), -each[0]))
        return [chunk for _, chunk in ranked[:limit]]

    async def recall(self, scope: Scope, query: str, limit: int) -> list[KnowledgeChunk]:
        """What a context gets: matches first, then the newest memories, `limit` in all."""
        found = await self.search(scope, query, limit)
        known = {chunk.chunk_id for chunk in found}
        newest = await self._memories.newest(scope, limit)
        return (found + [chunk for chunk in newest if chunk.chunk_id not in known])[:limit]


def terms(query: str) -> list[str]:
    """The query's distinct words, in order; letters and digits only, so none is full-text syntax."""
    words = (word for word in re.findall(r"[^\W_]+", query.casefold()))
    return list(dict.fromkeys(words))[:MOST_TERMS]


def _score(text: str, words: list[str]) -> int:
    return len(set(words) & set(terms(text)))
