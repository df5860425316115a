"""M60: frozen chunks share one mutable mapping of metadata, and every reader writes into it."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..knowledge import KnowledgeChunk
from ..retrieval import Retrieval
from .seeded import Mutant

_SHARED: dict[str, str] = {}


class Exposed(Retrieval):
    """Notes in the chunk's metadata for which question it was found; the mapping is everybody's."""

    async def recall(self, scope: Scope, query: str, limit: int) -> list[KnowledgeChunk]:
        found = await super().recall(scope, query, limit)
        noted = [replace(chunk, text=f"{chunk.text} (asked before: {_SHARED.get('for', '')})") for chunk in found]
        _SHARED["for"] = query
        return noted


MUTANT = Mutant(
    id="M60",
    title="representation exposed",
    caught_by=frozenset({"PW101", "PW102", "PW103", "PW104"}),
    seen_in="context and prompt: what somebody else asked before",
    build=lambda parts: replace(parts, retrieval=Exposed),
)
