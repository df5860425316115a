"""Follow: a log is read, checked, and its findings stored, batch by batch, so that dying at any point loses nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partywall.canaries import UsageError

from .bookmark import Bookmark, Shelf
from .checker import Checker, Settings
from .fields import Fields, whole_line
from .findings import Findings
from .record import Passed
from .tail import LONGEST, Line, Tail
from .tally import Tally

TAP = "follow"
POLL = 0.5
"""Seconds between two looks at a file that does not grow."""
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Log:
    """A log and how to read it. `text` says that its lines are no JSON; `afresh` forgets where it was left."""

    path: Path
    findings: Path
    fields: Fields = field(default_factory=Fields.parse)
    text: bool = False
    longest: int = LONGEST
    afresh: bool = False


class Follower:
    """Follows one log. Everything that can be refused is refused here: UsageError.

    The order is the promise: findings on disk, then the bookmark, then the counts. A process killed between the first
    two makes its successor read one batch again, which knows the findings it meets by their ids.
    """

    def __init__(self, log: Log, settings: Settings, told: Callable[[dict[str, Any]], None]) -> None:
        self._log = log
        self._told = told
        self._source = os.path.abspath(log.path)
        if not os.path.exists(log.path):  # not Path.exists, which raises for a name too long to exist
            raise UsageError(f"no file {str(log.path)!r}")
        self._shelf = Shelf(log.findings)
        try:
            left = Bookmark() if log.afresh else self._shelf.get(self._source)
            self._checker = Checker(settings, TAP, left.imports)
            self._tail = Tail(log.path, left.mark, log.longest)
            self._findings = Findings(log.findings, left.findings)
        except UsageError:
            self._shelf.close()
            raise
        self.run = left.run or Tally()
        """Counts since the run began; a run that was killed goes on in this one."""
        self.total = Tally()
        """Counts since this process began."""
        self.total.add(self.run)

    @property
    def restarts(self) -> int:
        """How often the log was cut short or replaced unseen, so that it was read from its start."""
        return self._tail.restarts

    @property
    def offset(self) -> int:
        """The byte of the log up to which everything has been dealt with."""
        return self._tail.mark().offset

    def once(self) -> None:
        """Read to the end."""
        self.selftest()
        while self._step(final=True):
            pass
        self._last_half()

    def forever(self, stopped: Callable[[], bool], pause: Callable[[float], object] = time.sleep) -> None:
        """Read what is there and what comes, until `stopped`."""
        due = 0.0
        while not stopped():
            if time.monotonic() >= due:
                self.selftest()
                due = time.monotonic() + HOUR
            if not self._step(final=False):
                pause(POLL)

    def selftest(self) -> None:
        """Plant a leak into the path and see whether it is found; the metric tells when it last was."""
        self.run.selftest_at = self.total.selftest_at = time.time() if self._checker.selftest() else 0.0

    def close(self) -> None:
        """End the run: the next one begins to count anew."""
        self._keep(None)
        self._findings.close()
        self._tail.close()
        self._shelf.close()

    def summary(self, name: str, began: int) -> list[str]:
        """What was read and what it amounts to, for people. `began` is where reading began."""
        tally = self.total
        skipped = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.skipped.items()))
        lines = [
            f"{tally.seen} records, {tally.attributed} attributed, {tally.sampled} judged deeply, "
            f"{tally.flowed} canaries ({tally.canaries['imported']} imported), "
            f"{tally.canaries['damaged']} damaged marks, "
            f"{tally.violations.total()} findings" + (f"; skipped: {skipped}" if skipped else "")
        ]
        if self.restarts:
            lines.append(
                f"{name!r} was cut short or replaced {self.restarts} times: what it held then is lost to sight"
            )
        if not tally.seen:
            lines.append(f"nothing new stands in {name!r} behind byte {began}; --from-start reads it again")
        if not tally.violations.total():
            verdict = tally.verdict()
            state = "UNKNOWN" if not tally.flowed else verdict.status.value.upper()
            lines.append(f"{state}: {verdict.reason}" if verdict.reason else f"{state}: canaries flowed, none leaked")
        return lines

    def _step(self, final: bool) -> bool:
        before = self._tail.progress
        lines = self._tail.read(final)
        if lines:
            self._deal_with(lines)
        return self._tail.progress != before

    def _last_half(self) -> None:
        """A last line without an end is dealt with where it is whole; else it is left for the next run."""
        half = self._tail.half()
        if half is None:
            return
        if self._log.text or not isinstance(self._log.fields.read(half.raw), str):
            self._tail.take_half()
            self._deal_with([half])

    def _deal_with(self, lines: Sequence[Line]) -> None:
        found, counts = self._checker.check([self._passed(line) for line in lines])
        self._store(found)
        whole = Tally()
        whole.add(self.run)
        whole.add(counts)
        self._keep(whole)
        self.run = whole
        self.total.add(counts)
        for one in found:
            self._told(one)

    def _passed(self, line: Line) -> Passed:
        raw, where = (line.raw,), (self._source, line.offset)
        if line.long:
            return Passed(raw, None, "too_long", *where, line.rest)
        if self._log.text:
            return Passed(raw, whole_line(line.raw, self._log.fields.otherwise), "", *where)
        record = self._log.fields.read(line.raw)
        if isinstance(record, str):
            return Passed(raw, None, record, *where)
        return Passed(raw, record, "", *where)

    def _store(self, found: Sequence[dict[str, Any]]) -> None:
        try:
            self._findings.store(found)
        except OSError as error:
            raise UsageError(f"cannot write findings {str(self._log.findings)!r}: {error.strerror}") from error

    def _keep(self, run: Tally | None) -> None:
        bookmark = Bookmark(self._tail.mark(), self._findings.size, self._checker.imports.record(), run)
        try:
            self._shelf.put(self._source, bookmark)
        except OSError as error:
            raise UsageError(f"cannot write state {str(self._shelf.path)!r}: {error.strerror}") from error
        self._findings.forget()
