"""A lock that holds between processes: a lease with an owner, and a token that tells an overtaken holder."""

from __future__ import annotations

from ..keys import Key
from .client import Shared

_TAKE = """
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
  and redis.call('GET', KEYS[1]) ~= ARGV[1] then return false end
local time = redis.call('TIME')
local last = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[3]))
local token = math.max(last + 1, time[1] * 1000000 + time[2])
redis.call('SET', KEYS[2], string.format('%.0f', token))
return string.format('%.0f', token)
"""
_EXTEND = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('PEXPIRE', KEYS[1], ARGV[2])"
_RELEASE = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])"


class SharedLock:
    """Leases by key. Only the owner extends or releases its own; after `lease` seconds anybody may have it.

    Tokens count up over the whole deployment, in microseconds at least, so that they go on where Redis lost what it
    knew. Every method raises StoreDown where Redis does not answer.
    """

    def __init__(self, shared: Shared, lease: float) -> None:
        self._shared = shared
        self.lease = lease

    async def take(self, key: Key, owner: str, above: int = 0) -> int | None:
        """The token of the lease, higher than any before and than `above`; None while somebody else has it."""
        names = (self._name(key), self._shared.name("fence"))
        token = await self._shared.run(_TAKE, names, (owner, self._milliseconds(), above))
        return None if token is None else int(str(token))

    async def extend(self, key: Key, owner: str) -> bool:
        """Count the lease anew from now; False where it is no longer this owner's."""
        return await self._shared.run(_EXTEND, (self._name(key),), (owner, self._milliseconds())) == 1

    async def release(self, key: Key, owner: str) -> bool:
        """Give the lease back; False where it is no longer this owner's."""
        return await self._shared.run(_RELEASE, (self._name(key),), (owner,)) == 1

    def _name(self, key: Key) -> str:
        return self._shared.name("lock", key)

    def _milliseconds(self) -> int:
        return max(1, int(self.lease * 1000))
