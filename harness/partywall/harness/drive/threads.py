"""Daemon worker threads for adapters with sync methods.

The standard pool joins its threads at exit, so an adapter that never answers would keep the process alive for
ever. These threads are daemons, and a thread whose call ran out of time is left behind.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any

_Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class DaemonThreads:
    """Runs sync calls off the event loop. Threads are reused across identities, last idle first: a value that an
    adapter leaves in a thread local then meets the next caller, as it would in a server's own pool."""

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[_Job | None]] = []

    async def run(self, job: Callable[[], Any]) -> Any:
        """The value of `job()`. Cancelling abandons the thread, which ends when the job does."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        inbox = self._idle.pop() if self._idle else self._start()
        inbox.put((job, loop, future))
        try:
            return await future
        finally:
            if future.done() and not future.cancelled():
                self._idle.append(inbox)
            else:
                inbox.put(None)

    def close(self) -> None:
        """Let every idle thread end."""
        while self._idle:
            self._idle.pop().put(None)

    def _start(self) -> queue.SimpleQueue[_Job | None]:
        inbox: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        threading.Thread(target=_work, args=(inbox,), name="partywall-adapter", daemon=True).start()
        return inbox


def _work(inbox: queue.SimpleQueue[_Job | None]) -> None:
    while (job := inbox.get()) is not None:
        function, loop, future = job
        try:
            value = function()
        except BaseException as error:  # handed to the waiting call: a SystemExit in an adapter is the adapter's answer
            _hand_over(loop, future, error=error)
        else:
            _hand_over(loop, future, value=value)


def _hand_over(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[Any],
    value: Any = None,
    error: BaseException | None = None,
) -> None:
    def settle() -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        elif isinstance(error, Exception) and not isinstance(error, StopIteration):
            future.set_exception(error)
        else:  # a future takes no StopIteration, and an exit asked for by an adapter must not end the run
            future.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        return  # the run is over and its loop closed: nobody waits for this answer
