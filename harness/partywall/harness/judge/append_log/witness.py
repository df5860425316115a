"""Witness: proves a violation a second time, from the operations it names alone, without keys and without a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .model import INFINITY, Append, Log, Read, Value, Violation


def doubt(log: Log, violation: Violation) -> str:
    """Why the operations that a violation names do not contradict each other; empty where they do."""
    return "" if _PROOFS[violation.name](log, violation) else f"{violation.name} is not borne out by its operations"


def _phantom(log: Log, it: Violation) -> bool:
    return _shows(log, it.second, it.value) and it.value not in log.by_value and it.value not in log.foreign


def _bleed(log: Log, it: Violation) -> bool:
    return _shows(log, it.second, it.value) and it.value not in log.by_value and it.value in log.foreign


def _failed(log: Log, it: Violation) -> bool:
    return isinstance(it.first, Append) and it.first.status == "fail" and _shows(log, it.second, it.first.value)


def _duplicate(log: Log, it: Violation) -> bool:
    return isinstance(it.second, Read) and log.shown(it.second).count(it.value) > 1


def _vanished(log: Log, it: Violation) -> bool:
    """Two reads, each with a value that the other lacks, or the longer without a value of the shorter."""
    one, other = it.first, it.second
    if not (isinstance(one, Read) and isinstance(other, Read)):
        return False
    gone = _shows(log, one, it.value) and not _shows(log, other, it.value)
    return gone and (
        other.size >= one.size or bool(set(log.shown(other)) - set(log.shown(one))) or not _clean(log, one)
    )


def _order(log: Log, it: Violation) -> bool:
    if not (isinstance(it.first, Read) and isinstance(it.second, Read)):
        return False
    one, other = log.shown(it.first), log.shown(it.second)
    both = set(one) & set(other)
    return list(dict.fromkeys(value for value in one if value in both)) != list(
        dict.fromkeys(value for value in other if value in both)
    )


def _hole(log: Log, it: Violation) -> bool:
    """The second read shows the value before one that the first shows, and the first does not show it."""
    if not (isinstance(it.first, Read) and isinstance(it.second, Read)):
        return False
    one, other = log.shown(it.first), log.shown(it.second)
    behind = set(other[other.index(it.value) :]) if it.value in other else set()
    return it.value not in one and bool(behind & set(one))


def _mismatch(log: Log, it: Violation) -> bool:
    """A read shows it elsewhere, or it was acknowledged with two numbers."""
    if not isinstance(it.first, Append) or it.first.number is None:
        return False
    if isinstance(it.second, Append):
        return it.first.value == it.second.value and it.first.number != it.second.number
    return log.numbered and any(
        it.first.value in log.shown(pin) and _place(log, pin, it.first) != it.first.number - 1 for pin in it.pins
    )


def _overwritten(log: Log, it: Violation) -> bool:
    """A read long enough to show the place shows another there and never this one."""
    if not isinstance(it.first, Append) or it.first.status != "ok" or it.slot is None:
        return False
    claimed = it.first.base if it.first.number is None or not log.numbered else it.first.number - 1
    return (
        claimed == it.slot
        and all(pin.size > it.slot and it.first.value not in log.shown(pin) for pin in it.pins)
        and bool(it.pins)
    )


def _one_number(log: Log, it: Violation) -> bool:
    one, other = it.first, it.second
    if not (isinstance(one, Append) and isinstance(other, Append)) or one is other:
        return False
    return one.status == other.status == "ok" and one.number is not None and one.number == other.number


def _cas(log: Log, it: Violation) -> bool:
    one, other = it.first, it.second
    if not isinstance(one, Append) or one.expected is None or one.status == "fail":
        return False
    if isinstance(other, Append) and other.expected == one.expected and one.status == other.status == "ok":
        return one is not other
    if log.numbered and one.number is not None and one.base is not None and one.number - 1 != one.base:
        return True
    return any(one.value in log.shown(pin) and _place(log, pin, one) != one.base for pin in it.pins)


def _gap(log: Log, it: Violation) -> bool:
    """Hall's condition, counted: more empty slots up to this one than appends that could have come in time."""
    if it.slot is None or not log.numbered:
        return False
    seen = {value for read in log.reads for value in log.shown(read)}
    shown = max((read.size for read in log.reads), default=0)
    taken = {each.number - 1: each for each in log.appends if each.status == "ok" and each.number is not None}
    limits = [each.ret for slot, each in taken.items() if slot > it.slot]
    limits += [each.ret for each in log.appends if each.conflict and each.base == it.slot]
    deadline = min(limits, default=INFINITY)
    empty = [slot for slot in range(shown, it.slot + 1) if slot not in taken]
    able = [each for each in log.appends if each.status == "info" and each.value not in seen and each.call <= deadline]
    useful = [each for each in able if each.base is None or each.base in empty]
    return len(empty) > len(useful)


def _lost(log: Log, it: Violation) -> bool:
    if not (isinstance(it.first, Append) and isinstance(it.second, Read)):
        return False
    acknowledged = it.first.status == "ok" and it.first.ret < it.second.call
    return acknowledged and not _shows(log, it.second, it.first.value)


def _stale(log: Log, it: Violation) -> bool:
    return _lost(log, it) or (_later(it) and _numbered_beyond(log, it.first, it.second))


def _backwards(log: Log, it: Violation) -> bool:
    one, other = it.first, it.second
    return isinstance(one, Read) and isinstance(other, Read) and _later(it) and one.size > other.size


def _inverted(log: Log, it: Violation) -> bool:
    """The later one stands before the earlier one, by a read or by the acknowledged numbers."""
    one, other = it.first, it.second
    if not (isinstance(one, Append) and isinstance(other, Append)) or not _later(it):
        return False
    for pin in it.pins:
        shown = log.shown(pin)
        if other.value in shown:
            return one.value not in shown or shown.index(other.value) < shown.index(one.value)
    return one.number is not None and other.number is not None and other.number < one.number


def _future(log: Log, it: Violation) -> bool:
    one, other = it.first, it.second
    if not (isinstance(one, Read) and isinstance(other, Append)) or not _later(it):
        return False
    return _shows(log, one, other.value) or (log.numbered and other.number is not None and other.number <= one.size)


def _spurious(log: Log, it: Violation) -> bool:
    """Refused for not being at `base`, while no later operation, and no number of appends, lets the log have been
    elsewhere: it can have been longer only if one more had been called by then."""
    one, other = it.first, it.second
    if not isinstance(one, Append) or not one.conflict or one.base is None:
        return False
    if other is not None:
        return one.ret < other.call
    called = [each for each in log.appends if each.status != "fail" and each.call <= one.ret]
    return len(called) <= one.base or bool(it.pins)


def _later(it: Violation) -> bool:
    return it.first is not None and it.second is not None and it.first.ret < it.second.call


def _numbered_beyond(log: Log, append: Append | Read | None, read: Append | Read | None) -> bool:
    if not (isinstance(append, Append) and isinstance(read, Read)) or append.number is None:
        return False
    return log.numbered and read.size < append.number


def _shows(log: Log, op: Append | Read | None, value: Value | None) -> bool:
    return isinstance(op, Read) and value in log.shown(op)


def _place(log: Log, read: Read, append: Append) -> int:
    return log.shown(read).index(append.value)


def _clean(log: Log, read: Read) -> bool:
    shown = log.shown(read)
    return len(set(shown)) == len(shown) and all(value in log.by_value for value in shown)


_PROOFS: Mapping[str, Callable[[Log, Violation], bool]] = {
    "PHANTOM": _phantom,
    "BLEED": _bleed,
    "FAILED-BUT-VISIBLE": _failed,
    "DUPLICATE": _duplicate,
    "VANISHED": _vanished,
    "ORDER-DISAGREEMENT": _order,
    "HOLE": _hole,
    "TURN-NUMBER-MISMATCH": _mismatch,
    "LOST-OVERWRITTEN": _overwritten,
    "DUPLICATE-TURN": _one_number,
    "CAS-HOLE": _cas,
    "TURN-NUMBER-GAP": _gap,
    "LOST-APPEND": _lost,
    "STALE-READ": _stale,
    "READ-YOUR-WRITES": _stale,
    "READ-WENT-BACKWARDS": _backwards,
    "MONOTONIC-READS": _backwards,
    "APPEND-ORDER-INVERSION": _inverted,
    "MONOTONIC-WRITES": _inverted,
    "FUTURE-READ": _future,
    "SPURIOUS-CONFLICT": _spurious,
}
