"""Keys: where each operation stands in the log, from the order and from acknowledged numbers (step 3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from .model import INFINITY, Append, Log, Order, Read, Violation, Violations

TOP = INFINITY
"""The key of an acknowledged append that no read shows and no number places: behind everything that was seen."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """Operations with their keys.

    `conflicts` are the places in `ops` of refused commits, which get their keys in the sweep; `beyond` are the slots
    behind the order that acknowledgements name; `unseen` are appends that were not refused and that no read shows.
    """

    ops: list[Append | Read] = field(default_factory=list)
    begin: list[int] = field(default_factory=list)
    end: list[float] = field(default_factory=list)
    client: list[str] = field(default_factory=list)
    key: list[float] = field(default_factory=list)
    conflicts: set[int] = field(default_factory=set)
    beyond: dict[int, Append] = field(default_factory=dict)
    unseen: list[Append] = field(default_factory=list)
    violations: Violations = field(default_factory=list)

    def add(self, op: Append | Read, key: float) -> None:
        """One more operation; its times are kept in lists of their own, which the sweep walks through."""
        self.ops.append(op)
        self.begin.append(op.call)
        self.end.append(op.ret)
        self.client.append(op.client)
        self.key.append(key)


def keyed(log: Log, order: Order) -> Keyed:
    """Keys of everything whose place is known. An append that failed, or that is unknown and unseen, has none: it may
    never have happened, and a place for it would contradict whoever truly stands there."""
    keys = Keyed()
    for read, size in zip(log.reads, order.sizes, strict=True):
        if size is not None:
            keys.add(read, 2 * size)
    shared = _Shared()
    length = len(order.values)
    whole = order.pin is None or order.pin.size == length  # a turn too many shifts every place behind it
    for append in log.appends:
        if append.status == "ok" and (append.number is not None or append.expected is not None):
            keys.violations.extend(shared.with_(append))
        place = order.position.get(append.value)
        if append.status == "fail":
            if append.conflict and append.base is not None:
                keys.conflicts.add(len(keys.ops))
                keys.add(append, -1)
        elif place is not None:
            if whole and log.numbered and append.number is not None and append.number != place + 1:
                keys.violations.append(_told("TURN-NUMBER-MISMATCH", append, None, order, place))
            if whole and append.base is not None and append.base != place:
                keys.violations.append(_told("CAS-HOLE", append, _at(log, order, append.base), order, append.base))
            keys.add(append, 2 * place + 1)
        else:
            keys.unseen.append(append)
            if append.status == "ok":
                _unseen(log, order, append, keys, whole)
    return keys


def _unseen(log: Log, order: Order, append: Append, keys: Keyed, whole: bool) -> None:
    """Acknowledged and in no read: it stands where its number says, else behind everything that was seen."""
    length = len(order.values)
    slot = append.number - 1 if log.numbered and append.number is not None else append.base
    if log.numbered and append.base is not None and append.base != slot:
        keys.violations.append(_told("CAS-HOLE", append, None, order, append.base))
    if slot is not None and slot < length and whole:
        keys.violations.append(_overwritten(log, order, append, slot))
    elif not log.final_reads:  # else it is a lost append, told as such
        keys.add(append, 2 * slot + 1 if log.numbered and slot is not None else TOP)
    if log.numbered and slot is not None and slot >= length:
        keys.beyond.setdefault(slot, append)


class _Shared:
    """Two acknowledgements of one number, two commits from one version: no log can have given both."""

    def __init__(self) -> None:
        self._numbers: dict[int, Append] = {}
        self._versions: dict[Hashable, Append] = {}

    def with_(self, append: Append) -> Iterator[Violation]:
        """What the next acknowledged append contradicts."""
        if append.number is not None:
            first = self._numbers.setdefault(append.number, append)
            if first is not append:
                yield Violation("DUPLICATE-TURN", first, append, slot=append.number - 1)
        if append.expected is not None:
            first = self._versions.setdefault(append.expected, append)
            if first is not append:
                yield Violation("CAS-HOLE", first, append, slot=append.base)


def _overwritten(log: Log, order: Order, append: Append, slot: int) -> Violation:
    """Its number was acknowledged, and the reads show another there: the other one may be right, this one is lost."""
    return _told("LOST-OVERWRITTEN", append, _at(log, order, slot), order, slot)


def _told(name: str, append: Append, other: Append | None, order: Order, slot: int) -> Violation:
    pins = (order.pin,) if order.pin is not None else ()
    return Violation(name, append, other, pins, append.value, slot)


def _at(log: Log, order: Order, slot: int) -> Append | None:
    return log.by_value.get(order.values[slot]) if slot < len(order.values) else None
