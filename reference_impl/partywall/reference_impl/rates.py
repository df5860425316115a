"""Rate limits: how much one user and one tenant may send at once, and how fast that comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from partywall.canaries import Scope

from .clock import Clock
from .keys import Key, Keys
from .refusals import Limited
from .used_keys import UsedKeys

_MOST_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` calls at once, `refill` more each second; a burst of 0 is no limit."""

    burst: int
    refill: float


class Buckets(Protocol):
    """Where tokens are counted."""

    async def take(self, wanted: Sequence[tuple[Key, Rate]], now: float) -> float:
        """Take one token from every bucket, or from none: the seconds to wait then, 0 where they were taken."""
        ...


class TokenBuckets:
    """Buckets of this process. A bucket that is full again is forgotten: it is as one never used."""

    def __init__(self) -> None:
        self._left: dict[Key, tuple[float, float, Rate]] = {}

    async def take(self, wanted: Sequence[tuple[Key, Rate]], now: float) -> float:
        if any(not isinstance(key, Key) for key, _ in wanted):
            raise TypeError("a rate key comes from Keys, never from plain text")
        left = {key: self._now(key, rate, now) for key, rate in wanted}
        wait = max(((1 - left[key]) / rate.refill for key, rate in wanted), default=0.0)
        if wait > 0:
            return wait
        if len(self._left) > _MOST_BUCKETS:
            kept = self._left.items()
            self._left = {key: each for key, each in kept if self._now(key, each[2], now) < each[2].burst}
        self._left.update({key: (left[key] - 1, now, rate) for key, rate in wanted})
        return 0.0

    def _now(self, key: Key, rate: Rate, now: float) -> float:
        tokens, at, _ = self._left.get(key, (rate.burst, now, rate))
        return min(rate.burst, tokens + max(0.0, now - at) * rate.refill)


class RateLimits:
    """Refuses a call of a user or a tenant that sent too many. What one tenant spends is never another's."""

    def __init__(self, keys: Keys, clock: Clock, buckets: Buckets, user: Rate, tenant: Rate) -> None:
        self._keys = keys
        self._clock = clock
        self._buckets = buckets
        self._rates = (tenant, user)
        self.used = UsedKeys()

    async def admit(self, scope: Scope) -> None:
        """Count one call of the scope. Raises Limited, with the seconds to wait as `retry_after`.

        The words are the same whichever bucket is empty: they tell nothing of what others of the tenant send.
        """
        wanted = [(key, rate) for key, rate in zip(self._keys.rate(scope), self._rates, strict=True) if rate.burst]
        for key, _ in wanted:
            self.used.use(key)
        wait = await self._buckets.take(wanted, self._clock.now())
        if wait > 0:
            raise Limited("too many calls at once; nothing was applied", retry_after=round(wait, 3))
