"""M62-cache: the scope is missing from one place, the keys of the caches of retrieval."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..caches import Caches, Purpose
from ..keys import Key, fingerprint
from .seeded import Mutant


class RetrievalByWords(Caches):
    """What was found for a query answers that query for everybody."""

    def key(self, scope: Scope, purpose: Purpose, payload: object) -> Key:
        if purpose is Purpose.RETRIEVAL:
            return Key(f"p{purpose}|h{fingerprint(payload)}")
        return super().key(scope, purpose, payload)


MUTANT = Mutant(
    id="M62-cache",
    title="scope missing from the retrieval cache",
    caught_by=frozenset({"PW101"}),
    seen_in="search_memory: the first to ask for a word answers it for everybody",
    build=lambda parts: replace(parts, caches=RetrievalByWords),
)
