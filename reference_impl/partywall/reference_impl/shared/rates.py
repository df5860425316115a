"""Token buckets that all processes of a deployment draw from."""

from __future__ import annotations

from collections.abc import Sequence

from ..keys import Key
from ..rates import Rate, TokenBuckets
from ..refusals import StoreDown
from .client import Shared

_TAKE = """
local now, wait, left = tonumber(ARGV[1]), 0, {}
for i, name in ipairs(KEYS) do
  local burst, refill = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local kept = redis.call('HMGET', name, 'tokens', 'at')
  local tokens, at = tonumber(kept[1] or burst), tonumber(kept[2] or now)
  left[i] = math.min(burst, tokens + math.max(0, now - at) * refill)
  wait = math.max(wait, (1 - left[i]) / refill)
end
if wait > 0 then return string.format('%.6f', wait) end
for i, name in ipairs(KEYS) do
  local burst, refill = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  redis.call('HSET', name, 'tokens', string.format('%.17g', left[i] - 1), 'at', ARGV[1])
  redis.call('PEXPIRE', name, math.ceil(burst / refill * 1000) + 1000)
end
return '0'
"""


class SharedBuckets:
    """Buckets in Redis, gone once they would be full again. While Redis is away each process counts for itself."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._own = TokenBuckets()

    async def take(self, wanted: Sequence[tuple[Key, Rate]], now: float) -> float:
        """As `Buckets.take`."""
        names = [self._shared.name("rate", key) for key, _ in wanted]
        values = [f"{number:.17g}" for _, rate in wanted for number in (rate.burst, rate.refill)]
        try:
            wait = await self._shared.run(_TAKE, names, (f"{now:.17g}", *values))
        except StoreDown:
            return await self._own.take(wanted, now)
        return float(str(wait))
