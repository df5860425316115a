"""M29: a memory is read and deleted by its id, whoever owns it."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..knowledge import KnowledgeChunk
from ..store.memories import SqlMemories
from .seeded import Mutant


class AnyOwner(SqlMemories):
    """The id alone decides."""

    async def get(self, scope: Scope, memory_id: str) -> KnowledgeChunk | None:
        statement = "SELECT memory_id, text, at FROM memories WHERE memory_id = ?"
        found = await self._select(scope, statement, (memory_id,))
        return found[0] if found else None

    async def delete(self, scope: Scope, memory_id: str) -> bool:
        return await self._delete(scope, "memory_id = ?", (memory_id,))


MUTANT = Mutant(
    id="M29",
    title="object id without owner check",
    caught_by=frozenset({"PW101", "PW102", "PW106"}),
    seen_in="get_memory and delete_memory with an id of somebody else",
    build=lambda parts: replace(parts, memories=AnyOwner),
)
