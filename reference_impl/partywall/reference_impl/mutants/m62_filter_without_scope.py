"""M62-filter: the scope is missing from one place, the filter of the full-text and nearest searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from partywall.canaries import Scope

from ..knowledge import KnowledgeChunk
from ..store.memories import SqlMemories
from .seeded import Mutant


class UnfilteredNearest(SqlMemories):
    """The newest of all are candidates for everybody."""

    async def newest(self, scope: Scope, limit: int) -> list[KnowledgeChunk]:
        statement = "SELECT memory_id, text, at FROM memories ORDER BY at DESC LIMIT ?"
        return await self._select(scope, statement, (limit,))

    async def match(self, scope: Scope, terms: Sequence[str]) -> list[KnowledgeChunk]:
        words = " OR ".join(["lower(text) LIKE ?"] * len(terms)) or "1 = 0"
        statement = f"SELECT memory_id, text, at FROM memories WHERE {words} ORDER BY at"
        return await self._select(scope, statement, tuple(f"%{term}%" for term in terms))


MUTANT = Mutant(
    id="M62-filter",
    title="scope missing from the retrieval filter",
    caught_by=frozenset({"PW101", "PW102"}),
    seen_in="search_memory, context and prompt",
    build=lambda parts: replace(parts, memories=UnfilteredNearest),
)
