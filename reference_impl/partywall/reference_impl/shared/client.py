"""A Redis server, under the name of one deployment."""

from __future__ import annotations

from collections.abc import Sequence

import redis
import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from ..refusals import StoreDown

_TIMEOUT = 2.0
_AWAY = (redis.ConnectionError, redis.TimeoutError, OSError)


class Shared:
    """Runs scripts, each of which Redis runs whole or not at all. Raises StoreDown where no server answers.

    A script may run twice where its answer was lost, so each one is made to do no harm the second time.

    Every name begins with `{name}:`, braces included, so that a cluster keeps one deployment in one slot.
    """

    def __init__(self, url: str, name: str) -> None:
        self._prefix = f"{{{name}}}:"
        self._client = redis.asyncio.Redis.from_url(
            url,
            socket_timeout=_TIMEOUT,
            socket_connect_timeout=_TIMEOUT,
            decode_responses=True,
            encoding_errors="surrogatepass",
            # Once again on a new connection: the one that was kept may be from before a restart.
            retry=Retry(NoBackoff(), 1),
        )

    def name(self, kind: str, rest: str = "") -> str:
        """The name of a value in Redis."""
        return f"{self._prefix}{kind}:{rest}"

    async def run(self, script: str, names: Sequence[str], values: Sequence[str | int | float]) -> object:
        """Run a Lua script on the named values; what it returns."""
        try:
            return await self._client.eval(script, len(names), *names, *map(str, values))
        except _AWAY as error:
            raise StoreDown("the shared cache and lock store") from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def discard(url: str, name: str) -> None:
    """Remove everything of a deployment. Raises StoreDown where no server answers."""
    try:
        with redis.Redis.from_url(url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT) as client:
            for found in client.scan_iter(match=f"{{{name}}}:*", count=1000):
                client.delete(found)
    except _AWAY as error:
        raise StoreDown("the shared cache and lock store") from error
