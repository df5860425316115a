"""The four caches: one store, one key maker, and a purpose in every key that tells them apart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum

from partywall.canaries import Level, Scope

from .cache import Cache
from .keys import Key, Keys


class Purpose(StrEnum):
    """What a cached value is. Without it in the key, what was reranked for one use is taken for what was retrieved."""

    RETRIEVAL = "retrieval"
    RERANK = "rerank"
    RESPONSE = "response"
    TOOL = "tool"


class Caches:
    """Reads through the cache: a value is made once for a scope, a purpose and a payload, until its owner changes."""

    def __init__(self, keys: Keys, cache: Cache) -> None:
        self._keys = keys
        self._cache = cache

    def key(self, scope: Scope, purpose: Purpose, payload: object) -> Key:
        """Whose value, for what, and of which request."""
        return self._keys.cache(scope, purpose, payload)

    async def through(self, scope: Scope, key: Key, make: Callable[[], Awaitable[str]]) -> str:
        """The value under `key`, which is one of the scope's, or the one that `make` makes now.

        What `make` raises is raised, and nothing is kept. Nor is a value kept whose owner's entries were dropped
        while it was made: it may rest on what was there before.
        """
        cached = await self._cache.get(scope, key)
        if cached is not None:
            return cached
        since = await self._cache.generation(scope)
        value = await make()
        await self._cache.put(scope, key, value, since)
        return value

    async def spoke(self, scope: Scope) -> None:
        """Drop what rested on the task's history: answers do, what was found in memories or by tools does not."""
        await self._cache.outdate(scope, Level.TASK, Purpose.RESPONSE)

    async def changed(self, scope: Scope, level: Level) -> None:
        """Drop everything that rested on something at or below `level` of the scope, whatever its purpose."""
        await self._cache.outdate(scope, level)
