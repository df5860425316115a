"""M54: the fingerprint of a cache key leaves the words of the request out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from partywall.canaries import Scope

from ..keys import Key, Keys
from .seeded import Mutant

IGNORED = frozenset({"query", "question", "words"})


class NoWords(Keys):
    """One entry for all questions of a scope."""

    def cache(self, scope: Scope, purpose: str, payload: object) -> Key:
        if isinstance(payload, Mapping):
            payload = {name: value for name, value in payload.items() if name not in IGNORED}
        return super().cache(scope, purpose, payload)


MUTANT = Mutant(
    id="M54",
    title="fingerprint ignores a field",
    caught_by=frozenset({"PW803"}),
    seen_in="search_memory and cached_answer of a second question in one scope",
    build=lambda parts: replace(parts, keys=NoWords),
)
