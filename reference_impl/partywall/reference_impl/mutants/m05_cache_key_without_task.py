"""M05: the cache key leaves out the task."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..keys import SEPARATOR, Key, Keys
from .seeded import Mutant


class Taskless(Keys):
    """Cache keys of five segments."""

    def cache(self, scope: Scope, purpose: str, payload: object) -> Key:
        segments = super().cache(scope, purpose, payload).split(SEPARATOR)
        del segments[Level.TASK - 1]
        return Key(SEPARATOR.join(segments))


MUTANT = Mutant(
    id="M05",
    title="cache key without task",
    caught_by=frozenset({"PW104"}),
    seen_in="cached_answer of two tasks that ask the same question",
    build=lambda parts: replace(parts, keys=Taskless),
)
