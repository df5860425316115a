"""M61: the cache key leaves out the session."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..keys import SEPARATOR, Key, Keys
from .seeded import Mutant


class Sessionless(Keys):
    """Cache keys of five segments."""

    def cache(self, scope: Scope, purpose: str, payload: object) -> Key:
        segments = super().cache(scope, purpose, payload).split(SEPARATOR)
        del segments[Level.SESSION - 1]
        return Key(SEPARATOR.join(segments))


MUTANT = Mutant(
    id="M61",
    title="cache key without session",
    caught_by=frozenset({"PW103"}),
    seen_in="cached_answer of two sessions that ask the same question",
    build=lambda parts: replace(parts, keys=Sessionless),
)
