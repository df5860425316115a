"""Cache entries in Redis, with an index per tenant: dropping one scope's looks at no neighbour's names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from ..cache import Drop, Generation, Line
from ..keys import Key
from ..refusals import StoreDown
from .client import Shared

_EPOCH = "redis.call('SET', KEYS[1], ARGV[1]) return 1"
_GET = "return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])}"
_GENERATION = """
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]) or '0', redis.call('GET', KEYS[3]) or '0'}
"""
_PUT = """
for i = 1, 3 do
  if (redis.call('GET', KEYS[i]) or '0') ~= ARGV[i] then return 0 end
end
local entry, index, due, tenants = KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local value, key, expires, now, ttl, tenant, prefix = unpack(ARGV, 4)
redis.call('SET', entry, value, 'PX', ttl)
redis.call('ZADD', index, 0, key)
redis.call('ZADD', due, expires, key)
redis.call('SADD', tenants, tenant)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', '(' .. now, 'LIMIT', 0, 100)) do
  redis.call('ZREM', index, old)
  redis.call('ZREM', due, old)
  redis.call('DEL', prefix .. old)
end
redis.call('PEXPIRE', index, ttl)
redis.call('PEXPIRE', due, ttl)
return 1
"""
_DROP = """
redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local found = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2])
local dropped = 0
for _, key in ipairs(found) do
  redis.call('ZREM', KEYS[2], key)
  redis.call('ZREM', KEYS[3], key)
  dropped = dropped + redis.call('DEL', ARGV[5] .. key)
end
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SREM', KEYS[4], ARGV[4]) end
return dropped
"""
_AT_REST = """
local found = {}
for _, tenant in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  for _, key in ipairs(redis.call('ZRANGE', ARGV[1] .. tenant, 0, -1)) do
    local value = redis.call('GET', ARGV[2] .. key)
    if value then table.insert(found, key) table.insert(found, value) end
  end
end
return found
"""


@dataclass(frozen=True, slots=True)
class _Kept:
    epoch: str
    expires: float
    text: str

    def line(self) -> str:
        return json.dumps([self.epoch, self.expires, self.text])

    @classmethod
    def read(cls, line: str) -> _Kept:
        return cls(*json.loads(line))


class SharedEntries:
    """Entries that all processes of a deployment see. A process that starts makes those of before invalid.

    While Redis is away nothing is found and nothing is kept. A drop that could not be made is owed: until it is made
    up for, nothing is served to this process, so that no answer of before comes back with Redis. A process that
    cannot reach Redis while others can does not outdate what they have cached, for `ttl` seconds at most.
    """

    def __init__(self, shared: Shared, ttl: float) -> None:
        self._shared = shared
        self._milliseconds = max(1, int(ttl * 1000))
        self._begun = False
        self._owed: list[Drop] = []

    async def get(self, tenant: str, key: Key, now: float) -> str | None:
        try:
            await self._settle()
            names = (self._shared.name("epoch"), self._entry(key))
            epoch, line = _texts(await self._shared.run(_GET, names, ()))
        except StoreDown:
            return None
        kept = _Kept.read(line) if line else None
        return kept.text if kept is not None and kept.epoch == epoch and kept.expires > now else None

    async def generation(self, tenant: str, marks: tuple[Key, Key]) -> Generation:
        try:
            await self._settle()
            epoch, *counts = _texts(await self._shared.run(_GENERATION, self._counters(marks), (uuid4().hex,)))
        except StoreDown:
            return Generation(0, 0, "away")  # no epoch is called so: nothing made now is kept
        return Generation(int(counts[0] or 0), int(counts[1] or 0), epoch or "")

    async def put(self, tenant: str, line: Line, since: Generation, now: float) -> bool:
        names = (*self._counters(line.marks), self._entry(line.key), *self._indexes(line.marks[0]))
        kept = _Kept(since.epoch, line.expires, line.value).line()
        values = (since.epoch, since.tenant, since.user, kept, line.key, line.expires, now)
        more = (self._milliseconds, line.marks[0], self._entry(""))
        try:
            await self._settle()
            return await self._shared.run(_PUT, names, (*values, *more)) == 1
        except StoreDown:
            return False

    async def drop(self, tenant: str, wanted: Drop) -> int:
        try:
            await self._settle()
            return await self._dropped(wanted)
        except StoreDown:
            self._owed.append(wanted)
            raise

    async def compact(self) -> None:
        """Redis keeps nothing of what it deleted; its own snapshots and append-only file are the operator's."""

    async def at_rest(self) -> list[tuple[str, str]]:
        values = (self._shared.name("index"), self._entry(""))
        found = _texts(await self._shared.run(_AT_REST, (self._shared.name("tenants"),), values))
        pairs = zip(found[::2], found[1::2], strict=True)
        return [(key, _Kept.read(line).text) for key, line in pairs if key and line]

    def close(self) -> None:
        """Nothing is held here: the client is closed by who made it."""

    async def _settle(self) -> None:
        """Begin anew where this process has just started, and make up for the drops that are owed."""
        if not self._begun:
            await self._shared.run(_EPOCH, (self._shared.name("epoch"),), (uuid4().hex,))
            self._begun = True
        for wanted in list(self._owed):
            await self._dropped(wanted)
            with suppress(ValueError):  # two calls may make up for the same one
                self._owed.remove(wanted)

    async def _dropped(self, wanted: Drop) -> int:
        names = (self._shared.name("generation", wanted.mark), *self._indexes(wanted.tenant))
        values = (self._milliseconds, wanted.tenant, self._entry(""))
        count = await self._shared.run(_DROP, names, (f"[{wanted.first}", f"({wanted.after}", *values))
        return int(str(count))

    def _counters(self, marks: tuple[Key, Key]) -> tuple[str, str, str]:
        name = self._shared.name
        return name("epoch"), name("generation", marks[0]), name("generation", marks[1])

    def _indexes(self, tenant: str) -> tuple[str, str, str]:
        return self._shared.name("index", tenant), self._shared.name("due", tenant), self._shared.name("tenants")

    def _entry(self, key: str) -> str:
        return self._shared.name("entry", key)


def _texts(found: object) -> Sequence[str | None]:
    assert isinstance(found, list)
    return found
