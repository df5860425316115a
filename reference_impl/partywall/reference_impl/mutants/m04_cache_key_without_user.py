"""M04: the cache key leaves out the user."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..keys import SEPARATOR, Key, Keys
from .seeded import Mutant


class Userless(Keys):
    """Cache keys of five segments."""

    def cache(self, scope: Scope, purpose: str, payload: object) -> Key:
        segments = super().cache(scope, purpose, payload).split(SEPARATOR)
        del segments[Level.USER - 1]
        return Key(SEPARATOR.join(segments))


MUTANT = Mutant(
    id="M04",
    title="cache key without user",
    caught_by=frozenset({"PW102"}),
    seen_in="cached_answer of two users that ask the same question",
    build=lambda parts: replace(parts, keys=Userless),
)
