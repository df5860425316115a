"""M37-objects: the purge does not visit the object store."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..purge import Purge
from .seeded import Mutant


class ObjectsKept(Purge):
    """Confirms the objects unseen."""

    async def erase(self, place: str, scope: Scope, level: Level) -> int:
        return 0 if place == "objects" else await super().erase(place, scope, level)


MUTANT = Mutant(
    id="M37-objects",
    title="purge misses the object store",
    caught_by=frozenset({"PW401"}),
    seen_in="stored_bytes, place objects",
    build=lambda parts: replace(parts, purge=ObjectsKept),
)
