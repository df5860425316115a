"""Service: checks batches as long as a process lives, and counts a finding when it is on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .checker import Checker
from .findings import Findings
from .record import Passed
from .tally import Tally

HOUR = 3600.0
MOST_PENDING = 1000


class Service:
    """A checker, the file its findings go to, and the counts of both.

    Findings that could not be written wait, `MOST_PENDING` of them, and are not counted before they are on disk.
    """

    def __init__(self, checker: Checker, findings: Findings, clock: Callable[[], float] = time.time) -> None:
        self.total = Tally()
        self._checker = checker
        self._findings = findings
        self._clock = clock
        self._pending: list[tuple[list[dict[str, Any]], Tally]] = []
        self._tested_at = 0.0

    def check(self, batch: Sequence[Passed]) -> None:
        """Check and store a batch. One record that breaks the checker is counted, and the others checked without it.

        Raises OSError where findings cannot be written, and whatever broke the checker.
        """
        try:
            self._store(*self._checker.check(batch))
        except OSError:
            raise
        except Exception:
            if len(batch) == 1:
                self.total.seen += 1
                self.total.skipped["error"] += 1
                raise
            self._one_by_one(batch)

    def idle(self) -> None:
        """Write what waits; once an hour see whether a planted leak is found."""
        self._flush()
        if not self._tested_at or self._clock() - self._tested_at >= HOUR:
            self._tested_at = self._clock()
            self.total.selftest_at = self._tested_at if self._checker.selftest() else 0.0

    def _one_by_one(self, batch: Sequence[Passed]) -> None:
        broken: Exception | None = None
        for passed in batch:
            try:
                self.check([passed])
            except Exception as error:
                broken = error
        if broken is not None:
            raise broken

    def _store(self, found: list[dict[str, Any]], counts: Tally) -> None:
        if not found:
            self.total.add(counts)
            return
        self._pending.append((found, counts))
        del self._pending[:-MOST_PENDING]
        self._flush()

    def _flush(self) -> None:
        while self._pending:
            found, counts = self._pending[0]
            self._findings.store(found)
            self.total.add(counts)
            self._pending.pop(0)
