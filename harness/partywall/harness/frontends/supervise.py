"""Supervise: one event loop for a whole run, and an end to it whatever a target does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

BEAT = 0.5
STALL = 30.0
"""Seconds without a heartbeat after which the loop counts as blocked: thrice the deadline of a call."""
CLEANUP = 12.0
"""Seconds that a cancelled run is given to stop what it started: an agent that must be killed takes five of them."""
LINGER = 2.0
"""Seconds that other cancelled tasks are given to end."""
INTERRUPTED = 130


def supervise(main: Coroutine[Any, Any, T], on_stall: Callable[[], int], stall: float = STALL) -> T:
    """Run `main` to its end on a new loop.

    An async adapter that blocks the loop also blocks every deadline on it, so a thread watches the heartbeat:
    after `stall` seconds without one it calls `on_stall`, which tells what there is to tell, and ends the process
    with the code that it returns. Tasks that swallow their cancellation are left behind.

    The first SIGINT or SIGTERM cancels `main`, which may then stop what it started, and is raised here as
    KeyboardInterrupt: raised wherever the loop happened to be, it could not be told from an adapter's own. A second
    one ends the process at once.
    """
    pulse = _Pulse()
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(BEAT):
            if time.monotonic() - pulse.at > stall:
                _end(on_stall())

    loop = asyncio.new_event_loop()
    threading.Thread(target=watch, name="partywall-watchdog", daemon=True).start()
    asyncio.set_event_loop(loop)
    task = loop.create_task(_beating(main, pulse))
    try:
        return _interruptible(loop, task)
    finally:
        _abandon(loop, task)
        stop.set()
        asyncio.set_event_loop(None)


class _Pulse:
    def __init__(self) -> None:
        self.at = time.monotonic()


def _interruptible(loop: asyncio.AbstractEventLoop, main: asyncio.Task[T]) -> T:
    asked = threading.Event()

    def interrupt() -> None:
        if asked.is_set():
            _end(INTERRUPTED)
        asked.set()
        main.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        # not the main thread, or a system without Unix signals: then Python's own handling stays
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, interrupt)
    try:
        value = loop.run_until_complete(main)
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    if asked.is_set():
        raise KeyboardInterrupt
    return value


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


def _abandon(loop: asyncio.AbstractEventLoop, main: asyncio.Task[Any]) -> None:
    """Cancel what is left, wait a little, close. A loop with tasks that will not end is left open: the process is
    about to end, and closing it would only print their complaints."""
    if not main.done():
        main.cancel()
        loop.run_until_complete(asyncio.wait({main}, timeout=CLEANUP))
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
