"""M03: the cache key leaves out the tenant."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..keys import SEPARATOR, Key, Keys
from .seeded import Mutant


class Tenantless(Keys):
    """Cache keys of five segments."""

    def cache(self, scope: Scope, purpose: str, payload: object) -> Key:
        segments = super().cache(scope, purpose, payload).split(SEPARATOR)
        del segments[Level.TENANT - 1]
        return Key(SEPARATOR.join(segments))


MUTANT = Mutant(
    id="M03",
    title="cache key without tenant",
    caught_by=frozenset({"PW101"}),
    seen_in="cached_answer of two tenants that ask the same question",
    build=lambda parts: replace(parts, keys=Tenantless),
)
