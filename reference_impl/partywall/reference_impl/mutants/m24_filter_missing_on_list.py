"""M24: search filters by owner, the listing does not."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..knowledge import KnowledgeChunk
from ..store.memories import SqlMemories
from .seeded import Mutant


class UnfilteredList(SqlMemories):
    """Lists everybody's memories."""

    async def all(self, scope: Scope) -> list[KnowledgeChunk]:
        return await self._select(scope, "SELECT memory_id, text, at FROM memories ORDER BY n", ())


MUTANT = Mutant(
    id="M24",
    title="filter missing on one path",
    caught_by=frozenset({"PW101", "PW102"}),
    seen_in="list_memories",
    build=lambda parts: replace(parts, memories=UnfilteredList),
)
