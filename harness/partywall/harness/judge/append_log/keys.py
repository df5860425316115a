"""Keys: where each operation stands in the log, from the order and from acknowledged numbers (step 3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from .model import INFINITY, Append, Log, Order, Read, Violation, Violations

TOP = INFINITY
"""The key of an acknowledged append that no read shows and no number places: behind everything that was seen."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """Operations with their keys.

    `conflicts` are the places in `ops` of refused commits, which get their keys in the sweep; `beyond` are the slots
    behind the order that acknowledgements name.
    """

    ops: list[Append | Read]
    key: list[float]
    conflicts: frozenset[int]
    beyond: dict[int, Append]
    violations: Violations


def keyed(log: Log, order: Order) -> Keyed:
    """Keys of everything whose place is known. An append that failed, or that is unknown and unseen, has none: it may
    never have happened, and a place for it would contradict whoever truly stands there."""
    ops: list[Append | Read] = []
    key: list[float] = []
    for read, size in zip(log.reads, order.sizes, strict=True):
        if size is not None:
            ops.append(read)
            key.append(2 * size)
    conflicts: list[int] = []
    violations = [*_shared(log)]
    beyond: dict[int, Append] = {}
    length = len(order.values)
    settled = bool(log.final_reads)  # then what no read shows is a lost append, told as such
    whole = order.pin is None or order.pin.size == length  # a turn too many shifts every place behind it
    for append in log.appends:
        place = order.position.get(append.value)
        if append.status == "fail":
            if append.conflict and append.base is not None:
                conflicts.append(len(ops))
                ops.append(append)
                key.append(-1)
        elif place is not None:
            if whole and log.numbered and append.number is not None and append.number != place + 1:
                violations.append(_told("TURN-NUMBER-MISMATCH", append, None, order, place))
            if whole and append.base is not None and append.base != place:
                violations.append(_told("CAS-HOLE", append, _at(log, order, append.base), order, append.base))
            ops.append(append)
            key.append(2 * place + 1)
        elif append.status == "ok":
            slot = append.number - 1 if log.numbered and append.number is not None else append.base
            if log.numbered and append.base is not None and append.base != slot:
                violations.append(_told("CAS-HOLE", append, None, order, append.base))
            if slot is not None and slot < length and whole:
                violations.append(_overwritten(log, order, append, slot))
            elif not settled:
                ops.append(append)
                key.append(2 * slot + 1 if log.numbered and slot is not None else TOP)
            if log.numbered and slot is not None and slot >= length:
                beyond.setdefault(slot, append)
    return Keyed(ops, key, frozenset(conflicts), beyond, violations)


def _shared(log: Log) -> Iterator[Violation]:
    """Two acknowledgements of one number, two commits from one version: no log can have given both."""
    numbers: dict[int, Append] = {}
    versions: dict[Hashable, Append] = {}
    for append in log.appends:
        if append.status != "ok":
            continue
        if append.number is not None:
            first = numbers.setdefault(append.number, append)
            if first is not append:
                yield Violation("DUPLICATE-TURN", first, append, slot=append.number - 1)
        if append.expected is not None:
            first = versions.setdefault(append.expected, append)
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
