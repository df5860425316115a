"""Supervise: one event loop for a whole run, and an end to it whatever a target does."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

BEAT = 0.5
STALL = 30.0
"""Seconds without a heartbeat after which the loop counts as blocked: thrice the deadline of a call."""
LINGER = 2.0
"""Seconds that cancelled tasks are given to end."""


def supervise(main: Coroutine[Any, Any, T], on_stall: Callable[[], int], stall: float = STALL) -> T:
    """Run `main` to its end on a new loop.

    An async adapter that blocks the loop also blocks every deadline on it, so a thread watches the heartbeat:
    after `stall` seconds without one it calls `on_stall`, which tells what there is to tell, and ends the process
    with the code that it returns. Tasks that swallow their cancellation are left behind.
    """
    pulse = _Pulse()
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(BEAT):
            if time.monotonic() - pulse.at > stall:
                _end(on_stall())

    loop = asyncio.new_event_loop()
    threading.Thread(target=watch, name="partywall-watchdog", daemon=True).start()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(_beating(main, pulse))
    finally:
        _abandon(loop)
        stop.set()
        asyncio.set_event_loop(None)


class _Pulse:
    def __init__(self) -> None:
        self.at = time.monotonic()


async def _beating(main: Coroutine[Any, Any, T], pulse: _Pulse) -> T:
    async def beat() -> None:
        while True:
            pulse.at = time.monotonic()
            await asyncio.sleep(BEAT)

    heart = asyncio.create_task(beat())
    try:
        return await main
    finally:
        heart.cancel()


def _abandon(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left, wait a little, close. A loop with tasks that will not end is left open: the process is
    about to end, and closing it would only print their complaints."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=LINGER))
    if all(task.done() for task in left):
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _end(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
