"""M37-index: the purge does not visit the full-text index."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..purge import Purge
from .seeded import Mutant


class IndexKept(Purge):
    """Confirms the index unseen."""

    async def erase(self, place: str, scope: Scope, level: Level) -> int:
        return 0 if place == "index" else await super().erase(place, scope, level)


MUTANT = Mutant(
    id="M37-index",
    title="purge misses the search index",
    caught_by=frozenset({"PW401"}),
    seen_in="stored_bytes, place index",
    build=lambda parts: replace(parts, purge=IndexKept),
)
