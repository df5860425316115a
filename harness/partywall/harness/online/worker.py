"""Worker: copies are checked out of the path, on a thread of its own that no request ever waits for."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from .tally import Tally

T = TypeVar("T")
OFF = "PARTYWALL_OFF"
"""The kill switch: set to anything but 0, nothing is copied and nothing checked."""

_SLICE = 32
"""Copies checked in one go, in about half a millisecond: that is what a request may wait for the interpreter, and the
larger it is, the fewer do."""
_LATEST_RETRY = 300.0
_REST = 0.0005


@dataclass(frozen=True, slots=True)
class Limits:
    """What checking may cost those it checks.

    `queue` copies wait at most, the newest are dropped. After `errors` failures in a row checking pauses, for `pause`
    seconds and twice as long each time it fails again. `interval` seconds lie between two looks at the queue: a thread
    woken by every request would take the interpreter from the next one. A check that has not ended after `hang`
    seconds counts as failed, and no copies are taken until it has.
    """

    queue: int = 1000
    errors: int = 5
    pause: float = 10.0
    interval: float = 0.25
    hang: float = 10.0
    off_file: Path | None = None


class Worker(Generic[T]):
    """Hands batches of what is offered to `check`, which may raise, hang or be slow: nobody who offers will notice.

    `check` counts for itself. The thread starts with `wake`, in the process that calls it: servers fork.
    """

    def __init__(
        self, check: Callable[[list[T]], None], limits: Limits, total: Tally, idle: Callable[[], None]
    ) -> None:
        self._check = check
        self._idle = idle
        self._limits = limits
        self._total = total
        self._queue: deque[T] = deque()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._process = 0
        self._failures = 0
        self._closed_until = 0.0
        self._busy_since = 0.0
        self._off = self._switched_off()

    @property
    def depth(self) -> int:
        """Copies that wait."""
        return len(self._queue)

    @property
    def enabled(self) -> bool:
        """Whether copies are taken: no kill switch, no breaker open, no check that hangs."""
        return not (self._off or self._closed_until or (self._busy_since and self._hangs()))

    def wake(self) -> None:
        """Start the thread where this process has none yet."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._busy_since = 0.0
            self._thread = threading.Thread(target=self._work, name="partywall-watch", daemon=True)
            self._thread.start()

    def offer(self, item: T) -> bool:
        """Take a copy, or drop it where too many wait. Never waits, whatever the checker does."""
        if len(self._queue) >= self._limits.queue:
            self._total.skipped["dropped"] += 1
            return False
        self._queue.append(item)
        return True

    def close(self, timeout: float = 2.0) -> None:
        """Check what waits, but for no longer than `timeout` seconds."""
        self._stop.set()
        thread = self._thread
        if thread is not None and self._process == os.getpid():
            thread.join(timeout)

    def _work(self) -> None:
        while not self._stop.wait(self._limits.interval):
            self._once()
        self._once()

    def _once(self) -> None:
        self._off = self._switched_off()
        if self._off:
            self._queue.clear()
            return
        if self._closed_until:
            if time.monotonic() < self._closed_until:
                self._queue.clear()
                return
            self._closed_until = 0.0
        self._guarded(self._idle)
        while self._queue and not self._closed_until:
            batch = [self._queue.popleft() for _ in range(min(_SLICE, len(self._queue)))]
            if self._guarded(partial(self._check, batch)):
                self._failures = 0
            # a moment in which whoever waits for the interpreter gets it
            time.sleep(_REST)

    def _guarded(self, work: Callable[[], object]) -> bool:
        self._busy_since = time.monotonic()
        try:
            work()
        except Exception:
            self._fail()
            return False
        finally:
            self._busy_since = 0.0
        return True

    def _fail(self) -> None:
        self._total.errors += 1
        self._failures += 1
        over = self._failures - self._limits.errors
        if over >= 0:
            self._closed_until = time.monotonic() + min(self._limits.pause * 2**over, _LATEST_RETRY)

    def _hangs(self) -> bool:
        since = self._busy_since
        return since > 0 and time.monotonic() - since > self._limits.hang

    def _switched_off(self) -> bool:
        if os.environ.get(OFF, "0") not in ("", "0"):
            return True
        return self._limits.off_file is not None and self._limits.off_file.exists()
