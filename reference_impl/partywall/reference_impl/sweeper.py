"""The sweeper: ends what is due and nobody asked for; what may be seen was decided by the times already."""

from __future__ import annotations

import asyncio

from .endings import Endings
from .log import Log
from .purge import Purge


class Sweeper:
    """Ends what is due of all scopes, and takes up purges that some place could not confirm."""

    def __init__(self, endings: Endings, purge: Purge, log: Log) -> None:
        self._endings = endings
        self._purge = purge
        self._log = log

    async def sweep(self) -> int:
        """Do what is due now; how many sessions were archived. Doing it twice, or half, does no harm."""
        return await self._endings.sweep()

    async def run(self, every: float) -> None:
        """Sweep, and resume purges, every so many seconds, until cancelled. A place that is down is tried again."""
        while True:
            try:
                await self._purge.resume()
                await self.sweep()
            except Exception as error:  # whatever failed, the next round tries it again
                self._log.write("sweep_failed", None, reason=type(error).__name__)
            await asyncio.sleep(every)
