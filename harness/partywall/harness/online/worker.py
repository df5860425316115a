"""Worker: copies are handed over out of the path, by a thread of its own that no request ever waits for."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .apart import Apart, CheckerHung

OFF = "PARTYWALL_OFF"
"""The kill switch: set to anything but 0, nothing is copied and nothing checked."""

_BATCH = 256
_LATEST_RETRY = 300.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What checking may cost those it checks.

    `queue` copies wait at most, the newest are dropped. After `errors` failures in a row checking pauses, for `pause`
    seconds and twice as long each time it fails again; so it does once a check has not ended after `hang` seconds, and
    the process that checks is killed. It is started `errors` times a minute at most. `interval` seconds lie between
    two looks at the queue: a thread woken by every request would take the interpreter from the next one. `closing`
    seconds may pass at the end until what waits is checked.
    """

    queue: int = 1000
    errors: int = 5
    pause: float = 10.0
    interval: float = 0.1
    hang: float = 10.0
    off_file: Path | None = None
    closing: float = 5.0


class Worker:
    """Hands batches of what is offered to the process that checks, which may raise, hang, die or be slow: nobody who
    offers will notice.

    The thread starts with `wake`, in the process that calls it, which `process` is then the id of: servers fork.
    """

    def __init__(self, apart: Apart, limits: Limits) -> None:
        self._apart = apart
        self._limits = limits
        self._queue: deque[bytes] = deque()
        self._most = limits.queue
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.process = 0
        self._failures = 0
        self._closed_until = 0.0
        self._off = self._switched_off()

    @property
    def depth(self) -> int:
        """Copies that wait."""
        return len(self._queue)

    @property
    def enabled(self) -> bool:
        """Whether copies are taken: no kill switch, no breaker open."""
        return not (self._off or self._closed_until)

    def wake(self) -> None:
        """Start the thread where this process has none yet."""
        if self.process != os.getpid():
            if self.process:
                self._apart.forget()
                self._queue.clear()
            self.process = os.getpid()
            self._thread = threading.Thread(target=self._work, name="partywall-watch", daemon=True)
            self._thread.start()

    def offer(self, copy: bytes) -> bool:
        """Take a copy, or drop it where too many wait. Never waits, whatever the checker does."""
        if len(self._queue) >= self._most:
            self._apart.total.skipped["dropped"] += 1
            return False
        self._queue.append(copy)
        return True

    def close(self) -> None:
        """Have what waits checked, but for no longer than the limit says, and end the process that checks."""
        self._stop.set()
        thread = self._thread
        if thread is not None and self.process == os.getpid():
            thread.join(self._limits.closing)

    def _work(self) -> None:
        while not self._stop.wait(self._limits.interval):
            self._once()
        self._once()
        self._off = True
        self._apart.close(self._limits.closing)

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
        if not self._queue:
            self._hand_over(())
        while self._queue and not self._closed_until:
            self._hand_over([self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))])

    def _hand_over(self, batch: Sequence[bytes]) -> None:
        try:
            if batch:
                self._apart.check(batch)
                self._failures = 0
            else:
                self._apart.idle()
        except Exception as error:
            self._fail(isinstance(error, CheckerHung))

    def _fail(self, at_once: bool) -> None:
        self._apart.total.errors += 1
        self._failures = max(self._failures + 1, self._limits.errors if at_once else 0)
        over = self._failures - self._limits.errors
        if over >= 0:
            self._closed_until = time.monotonic() + min(self._limits.pause * 2**over, _LATEST_RETRY)

    def _switched_off(self) -> bool:
        if os.environ.get(OFF, "0") not in ("", "0"):
            return True
        return self._limits.off_file is not None and self._limits.off_file.exists()
