"""Order: the log that the reads agree on, and the reads that do not (steps 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .model import Append, Log, Order, Read, Value, Violation, Violations

MOST_TOLD = 1_000
"""Reads that are told to disagree: comparing each further one with the whole log would say nothing new."""


@dataclass(frozen=True, slots=True)
class _Cleaned:
    """A read without what cannot be there: `length` of the cleaned running list, then `rest`."""

    read: Read
    length: int
    rest: tuple[Value, ...]

    @property
    def size(self) -> int:
        return self.length + len(self.rest)

    @property
    def whole(self) -> bool:
        """Whether nothing in it was impossible."""
        return self.size == self.read.size

    @property
    def rank(self) -> tuple[int, bool, int]:
        """Long before short, clean before spoiled; among equals the last."""
        return self.size, self.whole, self.read.call


def order_of(log: Log, prefixes: bool = True) -> Order:
    """The forced order and what contradicts it; `prefixes=False` lets reads be out of date or out of order.

    Values are unique, so the longest read is the only order there can be: every other read of a right log is a prefix
    of it. It is taken without repeats and without what nobody wrote: were a read with a turn twice taken as it is, the
    innocent reads would be the ones to disagree with it.
    """
    agreed = _agreed(log)
    if agreed is not None:
        return agreed
    violations: Violations = []
    running, reads = _cleaned(log, violations)
    longest = max(reads, key=lambda each: each.rank, default=None)
    pin = longest.read if longest else None
    values = (*running[: longest.length], *longest.rest) if longest else ()
    position = dict(zip(values, range(len(values)), strict=True))
    refused = [append for append in log.appends if append.status == "fail" and append.value in position]
    violations += _refused(refused, pin)
    sizes = [each.size if each.whole else None for each in reads]
    if prefixes and pin is not None:
        for index, violation in _disagreements(running, reads, values, position, pin):
            sizes[index] = None
            if len(violations) < MOST_TOLD:
                violations.append(violation)
    return Order(values, position, pin, tuple(violations), tuple(sizes))


def _agreed(log: Log) -> Order | None:
    """The order where every read is a prefix of the running list and that holds nothing impossible: the case of most
    logs, seen without a look at each value of each read. None where it is not that simple."""
    pin: Read | None = None
    sizes: list[int] = []
    for read in log.reads:
        if read.rest:
            return None
        sizes.append(read.length)
        if pin is None or read.length > pin.length or (read.length == pin.length and read.call > pin.call):
            pin = read
    values = log.running[: pin.length] if pin else ()
    position = dict(zip(values, range(len(values)), strict=True))
    here = 0
    refused: list[Append] = []
    for append in log.appends:
        if append.value in position:
            here += 1
            if append.status == "fail":
                refused.append(append)
    if not len(values) == len(position) == here:
        return None
    return Order(values, position, pin, tuple(_refused(refused, pin)), tuple(sizes))


def _refused(appends: Iterable[Append], pin: Read | None) -> Iterator[Violation]:
    for append in appends:
        yield Violation("FAILED-BUT-VISIBLE", append, pin, value=append.value)


def _cleaned(log: Log, violations: Violations) -> tuple[tuple[Value, ...], list[_Cleaned]]:
    """The running list and the reads, without repeats and without what nobody appended here.

    Each impossible value is told once, with the first read that shows it.
    """
    told: set[tuple[str, Value]] = set()

    def tell(name: str, value: Value, read: Read, index: int) -> None:
        if (name, value) not in told:
            told.add((name, value))
            violations.append(Violation(name, log.by_value.get(value), read, value=value, slot=index))

    place: dict[Value, int] = {}
    kept: list[Value] = []
    lengths = [0]
    faults: list[tuple[int, str, Value]] = []
    for index, value in enumerate(log.running):
        if name := _fault(log, value, value in place):
            faults.append((index, name, value))
        else:
            place[value] = len(kept)
            kept.append(value)
        lengths.append(len(kept))
    for index, name, value in faults:
        shower = next((read for read in log.reads if read.length > index), None)
        if shower is not None:
            tell(name, value, shower, index)
    reads = []
    for read in log.reads:
        length = lengths[read.length]
        rest: list[Value] = []
        seen: set[Value] = set()
        for index, value in enumerate(read.rest, read.length):
            again = value in seen or place.get(value, length) < length
            if name := _fault(log, value, again):
                tell(name, value, read, index)
            else:
                seen.add(value)
                rest.append(value)
        reads.append(_Cleaned(read, length, tuple(rest)))
    return tuple(kept), reads


def _fault(log: Log, value: Value, again: bool) -> str:
    if value not in log.by_value:
        return "BLEED" if value in log.foreign else "PHANTOM"
    return "DUPLICATE" if again else ""


def _disagreements(
    running: Sequence[Value],
    reads: Sequence[_Cleaned],
    values: tuple[Value, ...],
    position: dict[Value, int],
    pin: Read,
) -> Iterator[tuple[int, Violation]]:
    """Every read must be a prefix of the order, since a log only grows at its end.

    Comparing sets would not do: a read of turns 1 and 3 holds nothing false, and yet no moment showed it. Reads of the
    running list need no look as long as the order agrees with that list: they are prefixes of each other.
    """
    same = _common(running, values)
    for index, each in enumerate(reads):
        if not each.rest and each.length <= same:
            continue
        shown = (*running[: each.length], *each.rest)
        if shown != values[: len(shown)]:
            yield index, _disagreement(each.read, shown, values, position, pin)


def _disagreement(
    read: Read, shown: Sequence[Value], values: Sequence[Value], position: dict[Value, int], pin: Read
) -> Violation:
    missing = next((value for value in shown if value not in position), None)
    if missing is not None:
        return Violation("VANISHED", read, pin, value=missing)
    places = [position[value] for value in shown]
    for index in range(1, len(places)):
        if places[index] < places[index - 1]:
            return Violation("ORDER-DISAGREEMENT", read, pin, value=shown[index], slot=index)
    slot = next(index for index, place in enumerate(places) if place != index)
    return Violation("HOLE", read, pin, value=values[slot], slot=slot)


def _common(one: Sequence[Value], other: Sequence[Value]) -> int:
    size = min(len(one), len(other))
    if tuple(one[:size]) == tuple(other[:size]):
        return size
    return next(index for index in range(size) if one[index] != other[index])
