"""Apart: copies are checked in a process of its own, which costs the one that serves no more than handing them over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .frames import packed, unpacked
from .tally import Tally

COMMAND = (sys.executable, "-P", "-m", "partywall.harness.online.child")
_STARTING = 30.0
"""Seconds that a new process may take until it is ready."""
_PING = 1.0
"""Seconds after which the process is spoken to though nothing passed: that is when it writes what a full disk refused,
and tests itself."""
_WINDOW = 60.0
_DYING = 5.0


class CheckFailed(Exception):
    """A check raised, in the process that checks; that process lives on."""


class CheckerLost(Exception):
    """The process that checks could not be started, or has died."""


class CheckerHung(CheckerLost):
    """The process that checks did not answer in time, and was killed."""


@dataclass(slots=True)
class _Running:
    process: subprocess.Popen[bytes]
    connection: socket.socket
    spoken: float = 0.0


class Apart:
    """A checking process and what it has counted; started by the first batch, and again by the next after it died.

    `setup` is what the child is made of, as plain data. One batch is under way at a time, for at most `hang` seconds.
    A process that is started more than `starts` times a minute is not started again before the minute is over. What
    was under way when it died counts as seen and as skipped for an error: a batch that killed once is not tried again.
    Not safe from several threads.
    """

    def __init__(self, setup: dict[str, Any], hang: float, starts: int) -> None:
        self.total = Tally()
        self.command: Sequence[str] = COMMAND
        self._setup = packed(setup | {"hang": hang})
        self._hang = hang
        self._starts: deque[float] = deque(maxlen=starts)
        self._running: _Running | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the child, where one runs."""
        return self._running.process.pid if self._running is not None else None

    def check(self, copies: Sequence[bytes]) -> None:
        """Have a batch of frozen copies checked. Raises CheckFailed, CheckerLost, CheckerHung."""
        try:
            running = self._ready()
            failed = self._exchange(running, copies)
        except CheckerLost:
            self.total.seen += len(copies)
            self.total.skipped["error"] += len(copies)
            raise
        if failed:
            raise CheckFailed

    def idle(self) -> None:
        """Nothing waits: speak to the child now and then, and start it where it is not running."""
        running = self._ready()
        if time.monotonic() - running.spoken >= _PING and self._exchange(running, ()):
            raise CheckFailed

    def close(self, timeout: float) -> None:
        """Let the child end by itself; kill it where that takes longer than `timeout` seconds."""
        running, self._running = self._running, None
        if running is not None:
            running.connection.close()
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(timeout)
            _end(running)

    def forget(self) -> None:
        """This process was forked from the one whose child it is: leave that child alone."""
        running, self._running = self._running, None
        self._starts.clear()
        if running is not None:
            running.connection.close()

    def _exchange(self, running: _Running, copies: Sequence[bytes]) -> int:
        try:
            running.connection.settimeout(self._hang)
            running.connection.sendall(packed(list(copies)))
            counts, failed = unpacked(running.connection)
        except TimeoutError as error:
            self._lose(running)
            raise CheckerHung from error
        except (EOFError, OSError, ValueError, TypeError) as error:
            self._lose(running)
            raise CheckerLost from error
        counted = Tally.from_wire(counts)
        self.total.add(counted)
        self.total.selftest_at = counted.selftest_at
        running.spoken = time.monotonic()
        return int(failed)

    def _ready(self) -> _Running:
        if self._running is None:
            now = time.monotonic()
            if len(self._starts) == self._starts.maxlen and now - self._starts[0] < _WINDOW:
                raise CheckerLost("started too often")
            self._starts.append(now)
            self._running = self._started()
        return self._running

    def _started(self) -> _Running:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = subprocess.Popen(
                    [*self.command, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                )
        except Exception as error:  # an embedded interpreter, a limit on processes, no memory
            ours.close()
            raise CheckerLost("cannot be started") from error
        running = _Running(process, ours)
        try:
            ours.settimeout(_STARTING)
            ours.sendall(self._setup)
            unpacked(ours)
        except (EOFError, OSError, ValueError) as error:
            self._lose(running)
            raise CheckerLost("did not become ready") from error
        return running

    def _lose(self, running: _Running) -> None:
        self._running = None
        running.connection.close()
        _end(running)


def _end(running: _Running) -> None:
    with suppress(OSError, subprocess.TimeoutExpired):
        running.process.kill()
        running.process.wait(_DYING)
