"""M53: cache keys name no purpose, so that what was reranked for a context is returned for a search."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..keys import Key, Keys
from .seeded import Mutant


class NoPurpose(Keys):
    """One entry for all four caches."""

    def cache(self, scope: Scope, purpose: str, payload: object) -> Key:
        return super().cache(scope, "", payload)


MUTANT = Mutant(
    id="M53",
    title="cache key without purpose",
    caught_by=frozenset({"PW804"}),
    seen_in="search_memory after a context was assembled for the same words",
    build=lambda parts: replace(parts, keys=NoPurpose),
)
