"""Child: the process that checks what another one serves; it ends with that one, however that ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from .checker import Checker, Settings
from .exchange import Copy, ScopeFrom, passed_of
from .findings import Findings
from .frames import packed, thawed, unpacked
from .record import Passed
from .service import Service
from .tally import Tally

TAP = "asgi"
_NICE = 19
_LOOK = 1000
"""Milliseconds between two looks at whether the parent still lives: a process that it forked may hold its end of the
socket open beyond its death."""
_MERCY = 2
"""How many times as long as its parent waits for it this process lives with a check that does not end."""


def main() -> None:
    """Check what comes over the socket whose number is the one argument, until the other side is gone."""
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)  # meant for the server, which may have replies to show yet
    _yield()
    parent = os.getppid()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        setup = unpacked(connection)
        served = _Served(setup)
        connection.settimeout(setup["hang"] * _MERCY)
        with contextlib.suppress(EOFError, OSError):
            connection.sendall(packed(None))
            while _readable(connection, parent):
                copies = unpacked(connection)
                # without a handler it ends the process even within one call that never returns
                signal.setitimer(signal.ITIMER_REAL, setup["hang"] * _MERCY)
                answer = served.answer(copies)
                signal.setitimer(signal.ITIMER_REAL, 0)
                connection.sendall(packed(answer))


class _Served:
    """The checker of one parent."""

    def __init__(self, setup: dict[str, Any]) -> None:
        checker = Checker(Settings(**setup["settings"]), TAP)
        self._service = Service(checker, Findings(Path(setup["findings"])))
        self._scope_from = ScopeFrom(**setup["scope_from"])
        self._cap = setup["cap"]

    def answer(self, copies: list[bytes]) -> tuple[dict[str, Any], int]:
        """What has been counted since the last answer, and how many steps failed."""
        failed = 0
        steps = (self._service.idle, lambda: self._service.check([self._passed(copy) for copy in copies]))
        for step in steps:
            try:
                step()
            except Exception:
                failed += 1
        counts, self._service.total = self._service.total, Tally()
        self._service.total.selftest_at = counts.selftest_at
        return counts.to_wire(), failed

    def _passed(self, copy: bytes) -> Passed:
        try:
            return passed_of(Copy(*thawed(copy)), self._scope_from, self._cap)
        except Exception:
            return Passed((), None, "error")


def _yield() -> None:
    """Stand behind the server wherever the machine has too little: processor time first, memory at the very end."""
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # only a processor that nobody else wants
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _readable(connection: socket.socket, parent: int) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    while not poll.poll(_LOOK):
        if os.getppid() != parent:
            return False
    return True


if __name__ == "__main__":
    main()
