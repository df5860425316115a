"""Order: the log that the reads agree on, and the reads that do not (steps 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .model import Log, Order, Read, Value, Violation, Violations


def order_of(log: Log, prefixes: bool = True) -> Order:
    """The forced order and what contradicts it; `prefixes=False` lets reads be out of date or out of order.

    Values are unique, so the longest read that holds nothing impossible is the only order there can be: every other
    read of a right log is a prefix of it. Were a read with a repeat taken for the order, the innocent reads would be
    the ones to disagree with it.
    """
    violations: Violations = []
    clean = _Clean(log, violations)
    longest: Read | None = None
    for read in log.reads:
        if longest is None or (clean.whole(read), read.size, read.call) >= (
            clean.whole(longest),
            longest.size,
            longest.call,
        ):
            longest = read
    values = clean.of(longest) if longest is not None else ()
    order = Order(values, {value: index for index, value in enumerate(values)}, longest, ())
    if prefixes:
        violations += _disagreements(log, order, clean)
    for value in values:
        # In the order, though refused: whoever was told `no` writes it again.
        append = log.by_value[value]
        if append.status == "fail":
            violations.append(Violation("FAILED-BUT-VISIBLE", append, longest, value=value))
    return Order(values, order.position, longest, tuple(violations))


class _Clean:
    """Reads without what cannot be there, each impossible value told once, by the first read that shows it."""

    def __init__(self, log: Log, violations: Violations) -> None:
        self._log = log
        self._told: set[tuple[str, Value]] = set()
        self._violations = violations
        longest = max((read.length for read in log.reads), default=0)
        self._running, self._sound = self._judged(log.running[:longest], None)
        self._spoiled: dict[str, tuple[Value, ...]] = {}
        for read in log.reads:
            if read.rest or read.length > self._sound:
                kept, sound = self._judged(log.shown(read), read)
                if sound < read.size:
                    self._spoiled[read.id] = kept

    def whole(self, read: Read) -> bool:
        """Whether nothing in it is impossible."""
        return read.id not in self._spoiled

    def of(self, read: Read) -> tuple[Value, ...]:
        """What it shows, without repeats and without what nobody appended here."""
        return self._spoiled.get(read.id) or (() if read.id in self._spoiled else self._log.shown(read))

    def _judged(self, values: Sequence[Value], read: Read | None) -> tuple[tuple[Value, ...], int]:
        seen: set[Value] = set()
        kept: list[Value] = []
        sound = len(values)
        for index, value in enumerate(values):
            name = self._fault(value, seen)
            if not name:
                seen.add(value)
                kept.append(value)
                continue
            sound = min(sound, index)
            if read is not None and (name, value) not in self._told:
                self._told.add((name, value))
                self._violations.append(Violation(name, self._log.by_value.get(value), read, value=value, slot=index))
        return tuple(kept), sound

    def _fault(self, value: Value, seen: set[Value]) -> str:
        if value in seen:
            return "DUPLICATE"
        if value in self._log.by_value:
            return ""
        return "BLEED" if value in self._log.foreign else "PHANTOM"


def _disagreements(log: Log, order: Order, clean: _Clean) -> Iterable[Violation]:
    """Every read must be a prefix of the order, since a log only grows at its end.

    Comparing sets would not do: a read of turns 1 and 3 holds nothing false, and yet no moment showed it. Reads of the
    running list need no look as long as the order agrees with that list: they are prefixes of each other.
    """
    same = _common(log.running, order.values)
    for read in log.reads:
        if not read.rest and read.length <= same and clean.whole(read):
            continue
        shown = clean.of(read)
        if shown == order.values[: len(shown)]:
            continue
        yield _disagreement(read, shown, order)


def _disagreement(read: Read, shown: Sequence[Value], order: Order) -> Violation:
    pins = (order.pin,) if order.pin is not None else ()
    missing = next((value for value in shown if value not in order.position), None)
    if missing is not None:
        return Violation("VANISHED", read, order.pin, value=missing)
    places = [order.position[value] for value in shown]
    for index, (before, after) in enumerate(zip(places, places[1:], strict=False)):
        if after < before:
            return Violation("ORDER-DISAGREEMENT", read, order.pin, pins, shown[index], index)
    slot = next(index for index, place in enumerate(places) if place != index)
    return Violation("HOLE", read, order.pin, pins, order.values[slot], slot)


def _common(one: Sequence[Value], other: Sequence[Value]) -> int:
    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size
    return next(index for index in range(size) if one[index] != other[index])
