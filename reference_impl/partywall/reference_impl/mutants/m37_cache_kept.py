"""M37-cache: the purge does not visit the cache."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..purge import Purge
from .seeded import Mutant


class CacheKept(Purge):
    """Confirms the cache unseen."""

    async def erase(self, place: str, scope: Scope, level: Level) -> int:
        return 0 if place == "cache" else await super().erase(place, scope, level)


MUTANT = Mutant(
    id="M37-cache",
    title="purge misses the cache",
    caught_by=frozenset({"PW401"}),
    seen_in="stored_bytes, place cache, and the next cached answer",
    build=lambda parts: replace(parts, purge=CacheKept),
)
