"""Background loop: an event loop in a daemon thread, for callers that have none or are inside a running one."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from ..errors import TargetError

T = TypeVar("T")

BEAT = 0.5
STALL = 30.0
"""Seconds without a heartbeat after which the loop counts as blocked: thrice the deadline of a call."""
LINGER = 2.0
"""Seconds that tasks left behind by a run are given to end."""
CLEANUP = 12.0
"""The same for a run that was interrupted: an agent that must be killed takes five of them."""


class BackgroundLoop:
    """Runs coroutines to their end, from any thread. A loop that is blocked is left behind, never waited for."""

    def __init__(self, stall: float = STALL) -> None:
        self._stall = stall
        self._beat = min(BEAT, stall / 4)
        self._linger = LINGER
        self._alive_at = time.monotonic()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="partywall-loop", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns or raises; TargetError where something on the loop blocks it, deadlines included."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._alive_at = time.monotonic()
        try:
            while True:
                try:
                    return future.result(self._beat)
                except concurrent.futures.TimeoutError:
                    if not future.done():
                        self._check()
                    elif future.exception() is not None:  # the work's own time-out
                        raise
        finally:
            if future.cancel():
                self._linger = CLEANUP

    def close(self) -> None:
        """Cancel what is left, wait a little, stop the thread; closing twice is no mistake."""
        if self._loop.is_closed():
            return
        try:
            asyncio.run_coroutine_threadsafe(_abandon(self._linger), self._loop).result(self._linger + BEAT)
        except concurrent.futures.TimeoutError:
            return  # blocked: the thread is a daemon, and ends with the process
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LINGER)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        if not asyncio.all_tasks(self._loop):  # closing beside tasks that will not end prints their complaints
            self._loop.close()

    def _check(self) -> None:
        self._loop.call_soon_threadsafe(self._alive)
        if time.monotonic() - self._alive_at > self._stall:
            raise TargetError(
                f"the target blocked the event loop for {self._stall:g} s; an async method must not block"
            )

    def _alive(self) -> None:
        self._alive_at = time.monotonic()


async def _abandon(linger: float) -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=linger)
    await asyncio.get_running_loop().shutdown_asyncgens()
