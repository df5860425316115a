"""Nouns of the append-log checker: appends, reads, the log of one session, violations."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

INFINITY = math.inf
"""When an append of unknown outcome returned: it may still be applied."""

NAMES = (
    "PHANTOM",
    "BLEED",
    "FAILED-BUT-VISIBLE",
    "DUPLICATE",
    "VANISHED",
    "ORDER-DISAGREEMENT",
    "HOLE",
    "TURN-NUMBER-MISMATCH",
    "LOST-OVERWRITTEN",
    "DUPLICATE-TURN",
    "CAS-HOLE",
    "TURN-NUMBER-GAP",
    "LOST-APPEND",
    "STALE-READ",
    "READ-YOUR-WRITES",
    "READ-WENT-BACKWARDS",
    "MONOTONIC-READS",
    "APPEND-ORDER-INVERSION",
    "MONOTONIC-WRITES",
    "FUTURE-READ",
    "SPURIOUS-CONFLICT",
    "DURABILITY-LOSS",
    "LOCK-LOST",
)
"""Names of violations in the order of their codes: PW201 is the first."""

Value = Hashable
Level = Literal["linearizable", "session", "eventual"]


@dataclass(frozen=True, slots=True)
class Append:
    """One logical append: all attempts of one request id, where the target promises idempotence.

    call, ret   nanoseconds; closed interval; `ret` is INFINITY where the outcome is unknown
    value       what it writes, unique in the history
    number      the acknowledged turn number, from 1
    expected    the version it was conditional on; `base` the same as a count of turns, where versions are counts
    conflict    it failed because the log was not at `expected`
    """

    id: str
    client: str
    call: int
    ret: float
    status: Literal["ok", "fail", "info"]
    value: Value
    number: int | None = None
    expected: Hashable | None = None
    base: int | None = None
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """One full read that was answered: the first `length` values of the log's running list, then `rest`.

    Histories hold many long reads that agree: keeping lengths is what keeps the volume linear.
    """

    id: str
    client: str
    call: int
    ret: int
    length: int
    rest: tuple[Value, ...] = ()

    @property
    def size(self) -> int:
        """How many values it shows."""
        return self.length + len(self.rest)


@dataclass(frozen=True)
class Log:
    """What clients did to one session, and the running list that its reads agree on.

    `numbered` says that turn numbers are positions: every entry of the log is one of these appends, and every
    acknowledged append has its number. `foreign` are values of other sessions' appends.
    """

    appends: Sequence[Append]
    reads: Sequence[Read]
    running: tuple[Value, ...] = ()
    numbered: bool = False
    foreign: frozenset[Value] = field(default_factory=frozenset)

    @cached_property
    def by_value(self) -> dict[Value, Append]:
        """Appends by what they write."""
        return {append.value: append for append in self.appends}

    def shown(self, read: Read) -> tuple[Value, ...]:
        """Every value that a read shows."""
        return (*self.running[: read.length], *read.rest)

    @cached_property
    def _running_place(self) -> dict[Value, int]:
        running = self.running
        return dict(zip(reversed(running), range(len(running) - 1, -1, -1), strict=True))

    def place(self, read: Read, value: Value) -> int | None:
        """Where a read first shows a value, from 0; None where it does not."""
        place = self._running_place.get(value, read.length)
        if place < read.length:
            return place
        return read.length + read.rest.index(value) if value in read.rest else None

    @cached_property
    def final_reads(self) -> tuple[Read, ...]:
        """Reads that began after the last acknowledgement: what they lack is not merely late."""
        last = max((append.ret for append in self.appends if append.status == "ok"), default=INFINITY)
        return tuple(read for read in self.reads if read.call > last)


def log_of(
    appends: Sequence[Append],
    reads: Sequence[tuple[str, str, int, int, Sequence[Value]]],
    numbered: bool = False,
    foreign: frozenset[Value] = frozenset(),
) -> Log:
    """A log from reads in full, `(id, client, call, ret, values)`; the running list grows with each that agrees."""
    running: list[Value] = []
    kept: list[Read] = []
    for name, client, call, ret, values in reads:
        values = list(values)
        size = min(len(values), len(running))
        if values[:size] == running[:size]:
            running += values[size:]
            kept.append(Read(name, client, call, ret, len(values)))
        else:
            same = next(index for index in range(size) if values[index] != running[index])
            kept.append(Read(name, client, call, ret, same, tuple(values[same:])))
    return Log(appends, kept, tuple(running), numbered, foreign)


@dataclass(frozen=True, slots=True)
class Violation:
    """Two operations that contradict each other, and at most two reads that pin them.

    `value` is what is at issue where an operation shows many; `slot` a position in the log, from 0.
    """

    name: str
    first: Append | Read | None
    second: Append | Read | None
    pins: tuple[Read, ...] = ()
    value: Value | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """The one order that the values force.

    values      the longest read, `pin`, without what cannot be there; `position` is its index
    sizes       for each read of the log how many values it shows, None where it cannot be right whatever the order
    """

    values: tuple[Value, ...]
    position: dict[Value, int]
    pin: Read | None
    violations: tuple[Violation, ...]
    sizes: tuple[int | None, ...]


Violations = list[Violation]
