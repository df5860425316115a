"""Session locks: first of three defences, and assumed to fail (see append.py for the other two)."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol
from uuid import uuid4

from .keys import Key
from .refusals import Limited, StoreDown
from .used_keys import UsedKeys

MOST_UNSURE = 10_000
"""Sessions remembered whose lease may have been left behind."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A lock that is held. `token` grows with every lease of the key, so that an overtaken holder can be told."""

    owner: str
    token: int


class LeaseStore(Protocol):
    """A lock that holds between processes; every method raises StoreDown where it does not answer."""

    lease: float
    """Seconds after which a lease that nobody extends is free again."""

    async def take(self, key: Key, owner: str, above: int) -> int | None:
        """The token of the lease, higher than any before and than `above`; None while somebody else has it."""
        ...

    async def extend(self, key: Key, owner: str) -> bool: ...

    async def release(self, key: Key, owner: str) -> bool: ...


@dataclass(slots=True)
class _Held:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiters: int = 0
    lease: Lease | None = None


class SessionLocks:
    """One lock per key; `timeout` in seconds. With `shared` it holds between processes, else in this one alone."""

    def __init__(self, timeout: float = 5.0, shared: LeaseStore | None = None) -> None:
        self._timeout = timeout
        self._shared = shared
        self._held: dict[Key, _Held] = {}
        self.used = UsedKeys()
        self._last = 0
        self._name = uuid4().hex
        self._unsure: dict[Key, str] = {}

    @property
    def shared(self) -> bool:
        """Whether they hold between processes."""
        return self._shared is not None

    @asynccontextmanager
    async def hold(self, key: Key) -> AsyncIterator[Lease]:
        """Hold the lock of `key`; Limited where it cannot be had in time, StoreDown where nobody answers for it.

        No model call and no outside request belongs inside.
        """
        if not isinstance(key, Key):
            raise TypeError("a lock key comes from Keys, never from plain text")
        self.used.use(key)
        held = self._held.setdefault(key, _Held())
        held.waiters += 1
        deadline = time.monotonic() + self._timeout
        try:
            try:
                await asyncio.wait_for(held.lock.acquire(), self._timeout)
            except TimeoutError:
                raise _busy() from None
            try:
                async with self._leased(key, deadline) as held.lease:
                    yield held.lease
            finally:
                held.lease = None
                held.lock.release()
        finally:
            held.waiters -= 1
            if not held.waiters:
                del self._held[key]

    def owner(self, key: Key) -> Lease | None:
        """Who holds `key` now, of this process."""
        held = self._held.get(key)
        return held.lease if held else None

    def go_on_from(self, token: int) -> None:
        """Give out higher tokens than this one, which another process or an earlier life of this one has given out."""
        self._last = max(self._last, token)

    @asynccontextmanager
    async def _leased(self, key: Key, deadline: float) -> AsyncIterator[Lease]:
        if self._shared is None:
            # Microseconds, so that tokens go on growing when the process starts anew, whatever it had given out.
            self._last = max(self._last + 1, time.time_ns() // 1000)
            yield Lease(f"{self._name}-{self._last}", self._last)
            return
        owner = uuid4().hex
        token = await self._taken(self._shared, key, owner, deadline)
        extending = asyncio.create_task(_extend(self._shared, key, owner))
        try:
            yield Lease(owner, token)
        finally:
            extending.cancel()
            with suppress(StoreDown):  # the lease ends by itself
                await self._released(self._shared, key, owner)

    async def _released(self, shared: LeaseStore, key: Key, owner: str) -> None:
        try:
            await shared.release(key, owner)
        except (StoreDown, asyncio.CancelledError):
            self._doubt(key, owner)
            raise

    def _doubt(self, key: Key, owner: str) -> None:
        """Whether `owner` has the lease nobody knows: what was asked may have arrived, and the answer been lost."""
        if len(self._unsure) >= MOST_UNSURE:
            del self._unsure[next(iter(self._unsure))]
        self._unsure[key] = owner

    async def _taken(self, shared: LeaseStore, key: Key, owner: str, deadline: float) -> int:
        """The token of a new lease. One of this process's own that may have been left is given back first: else the
        session would be busy for as long as that lasts, with nobody in it."""
        if key in self._unsure:
            await self._released(shared, key, self._unsure.pop(key))
        try:
            return await self._waited(shared, key, owner, deadline)
        except (StoreDown, asyncio.CancelledError):
            self._doubt(key, owner)
            raise

    async def _waited(self, shared: LeaseStore, key: Key, owner: str, deadline: float) -> int:
        pause = 0.002
        while (token := await shared.take(key, owner, self._last)) is None:
            if time.monotonic() + pause > deadline:
                raise _busy()
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(0.05, pause * 2)
        return token


def _busy() -> Limited:
    return Limited("the session is busy; nothing was written")


async def _extend(shared: LeaseStore, key: Key, owner: str) -> None:
    # A lease that was lost is not taken back: the token and the version that was read decide then.
    extended = True
    while extended:
        await asyncio.sleep(shared.lease / 3)
        with suppress(StoreDown):
            extended = await shared.extend(key, owner)
