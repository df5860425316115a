"""Sweep: steps 3 to 6, in O(n log n): keys from positions, then one pass over calls and returns.

A log is linearizable if and only if positions exist such that no operation that ended before another began has the
greater key, where a read of length l has the key 2l and an append at position p has 2p+1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from .collector import resting
from .gaps import gaps
from .keys import TOP, Keyed, keyed
from .model import Append, Level, Log, Order, Read, Violation, Violations
from .order import order_of

_NAMES = {
    # kinds of the earlier and the later one: by any client, by the same client
    ("append", "read"): ("STALE-READ", "READ-YOUR-WRITES"),
    ("read", "read"): ("READ-WENT-BACKWARDS", "MONOTONIC-READS"),
    ("append", "append"): ("APPEND-ORDER-INVERSION", "MONOTONIC-WRITES"),
    ("read", "append"): ("FUTURE-READ", "FUTURE-READ"),
}


def violations_of(log: Log, level: Level = "linearizable") -> tuple[Order, Violations]:
    """The order of a log and everything in it that breaks `level`; the same log gives the same list.

    `linearizable`: all of it. `session`: one order, but a client is held only to what it has itself seen and
    written. `eventual`: nothing but what is impossible in any order, and what the final reads lack.
    """
    with resting():
        return _violations_of(log, level)


def _violations_of(log: Log, level: Level) -> tuple[Order, Violations]:
    order = order_of(log, prefixes=level != "eventual")
    found: Violations = list(order.violations)
    keys = keyed(log, order)
    if level == "eventual":
        return order, found + list(_lost(log, keys))
    found += keys.violations
    told = {each.value for each in keys.violations if each.name == "LOST-OVERWRITTEN"}
    found += [each for each in _lost(log, keys) if each.value not in told]
    swept = _Sweep(log, order, keys, everybody=level == "linearizable")
    found += swept.run()
    if level == "linearizable" and not found:  # a slot is empty only if every place that is known is right
        found += gaps(log, order, keys, swept.conflicts)
    return order, found


def _lost(log: Log, keys: Keyed) -> Iterator[Violation]:
    """Acknowledged, in no read, and a read that began after the last acknowledgement does not show it.

    Without such a read it is only `never read`: a slow replica may show it yet.
    """
    unseen = [append for append in keys.unseen if append.status == "ok"]
    if not unseen or not log.final_reads:
        return
    final = log.final_reads[-1]
    shown = set(log.shown(final))
    for append in unseen:
        if append.value not in shown:
            yield Violation("LOST-APPEND", append, final, value=append.value)


@dataclass(slots=True)
class _Most:
    """The greatest key that has completed, and whose it is."""

    key: float = -1
    by: int = -1


@dataclass(slots=True)
class _Sweep:
    log: Log
    order: Order
    keys: Keyed
    everybody: bool
    conflicts: list[tuple[float, float]] = field(default_factory=list)

    def run(self) -> Violations:
        """All inversions. Calls come before returns on ties: equal stamps overlap, so neither came first.

        The earlier operation of an inversion is the one with the greatest key, so that one comparison with it
        stands for the comparison with all.
        """
        key, begins, ends, clients = self.keys.key, self.keys.begin, self.keys.end, self.keys.client
        found: Violations = []
        returns = sorted(range(len(ends)), key=ends.__getitem__)
        beyond = _Beyond(self.keys, self.order)
        limit = 2 * len(self.order.values)
        most = _Most()
        own: dict[str, _Most] = {}
        waiting = 0
        for index in sorted(range(len(begins)), key=begins.__getitem__):
            begin = begins[index]
            while ends[returns[waiting]] < begin:
                ended = returns[waiting]
                waiting += 1
                mark = key[ended]
                if mark > most.key:
                    most.key, most.by = mark, ended
                mine = own.get(clients[ended])
                if mine is None:
                    own[clients[ended]] = _Most(mark, ended)
                elif mark > mine.key:
                    mine.key, mine.by = mark, ended
                if mark > limit:
                    beyond.ended(mark)
            if index in self.keys.conflicts:
                if self.everybody:
                    found += self._conflict(index, most, beyond)
                continue
            mine = own.get(clients[index])
            if mine is not None and key[index] < mine.key:
                found.append(self._inversion(mine.by, index, own=True))
            elif self.everybody and key[index] < most.key:
                found.append(self._inversion(most.by, index, own=clients[most.by] == clients[index]))
        return found

    def _conflict(self, index: int, most: _Most, beyond: _Beyond) -> Violations:
        """A refused commit saw some length other than the expected one. The smallest that is possible binds least:
        whatever lets it have seen a longer log lets it have seen this one, and later ones need only be no shorter.

        Where the log had moved on from what was expected, a refusal is right, and says nothing that was not known.
        """
        append = self.keys.ops[index]
        assert isinstance(append, Append)
        assert append.base is not None
        least = beyond.least() if most.key == TOP else (int(most.key) + 1) // 2
        if least != append.base:
            return []
        length = least + 1
        self.keys.key[index] = 2 * length
        self.conflicts.append((2 * length, append.ret))
        if not self.log.numbered and length > len(self.order.values) + beyond.called_by(append.ret):
            return [Violation("SPURIOUS-CONFLICT", append, None, _pins(self.order), slot=append.base)]
        return []

    def _inversion(self, earlier: int, later: int, own: bool) -> Violation:
        first, second = self.keys.ops[earlier], self.keys.ops[later]
        if isinstance(first, Append) and first.conflict:
            return Violation("SPURIOUS-CONFLICT", first, second, _pins(self.order), slot=first.base)
        name = _NAMES[_kind(first), _kind(second)][own]
        value = first.value if isinstance(first, Append) else second.value if isinstance(second, Append) else None
        return Violation(name, first, second, _pins(self.order), value)


class _Beyond:
    """What lies behind the order: lengths that refused commits saw, and appends that no read shows."""

    def __init__(self, keys: Keyed, order: Order) -> None:
        self._order = len(order.values)
        self._acknowledged = 0
        self._seen = 0
        self._calls = sorted(append.call for append in keys.unseen)

    def ended(self, mark: float) -> None:
        """An operation with a key behind the order has completed."""
        if mark == TOP:
            self._acknowledged += 1
        else:
            self._seen = max(self._seen, (int(mark) + 1) // 2)

    def least(self) -> int:
        """The least length that the log can have now."""
        return max(self._order + self._acknowledged, self._seen)

    def called_by(self, time: float) -> int:
        """How many unseen appends had been called no later than `time`."""
        return bisect_right(self._calls, time)


def _kind(op: Append | Read) -> str:
    return "append" if isinstance(op, Append) else "read"


def _pins(order: Order) -> tuple[Read, ...]:
    return (order.pin,) if order.pin is not None else ()
