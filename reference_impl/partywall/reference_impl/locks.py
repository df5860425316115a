"""Session locks: first of three defences, and assumed to fail (see append.py for the other two)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from .keys import Key
from .refusals import Limited


@dataclass(slots=True)
class _Held:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiters: int = 0
    owner: str | None = None


class SessionLocks:
    """One lock per key, for this process; `timeout` in seconds."""

    def __init__(self, timeout: float = 5.0) -> None:
        self._timeout = timeout
        self._held: dict[Key, _Held] = {}

    @asynccontextmanager
    async def hold(self, key: Key) -> AsyncIterator[str]:
        """Hold the lock of `key`, yielding the owner id; Limited where it cannot be had in time.

        No model call and no outside request belongs inside.
        """
        if not isinstance(key, Key):
            raise TypeError("a lock key comes from Keys, never from plain text")
        held = self._held.setdefault(key, _Held())
        held.waiters += 1
        owner = uuid4().hex
        try:
            try:
                await asyncio.wait_for(held.lock.acquire(), self._timeout)
            except TimeoutError:
                raise Limited("the session is busy; nothing was written") from None
            held.owner = owner
            try:
                yield owner
            finally:
                held.owner = None
                held.lock.release()
        finally:
            held.waiters -= 1
            if not held.waiters:
                del self._held[key]

    def owner(self, key: Key) -> str | None:
        """Who holds `key` now."""
        held = self._held.get(key)
        return held.owner if held else None
