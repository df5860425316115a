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
    return log.numbered and any(log.place(pin, it.first.value) not in (None, it.first.number - 1) for pin in it.pins)


def _overwritten(log: Log, it: Violation) -> bool:
    """A read long enough to show the place shows another there and never this one."""
    if not isinstance(it.first, Append) or it.first.status != "ok" or it.slot is None:
        return False
    claimed = it.first.base if it.first.number is None or not log.numbered else it.first.number - 1
    return (
        claimed == it.slot
        and all(pin.size > it.slot and log.place(pin, it.first.value) is None for pin in it.pins)
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
    return any(log.place(pin, one.value) not in (None, one.base) for pin in it.pins)


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
        before, after = log.place(pin, other.value), log.place(pin, one.value)
        if before is not None:
            return after is None or before < after
    return one.number is not None and other.number is not None and other.number < one.number


def _future(log: Log, it: Violation) -> bool:
    one, other = it.first, it.second
    if not (isinstance(one, Read) and isinstance(other, Append)) or not _later(it):
        return False
    return _shows(log, one, other.value) or (log.numbered and other.number is not None and other.number <= one.size)


def _spurious(log: Log, it: Violation) -> bool:
    """Refused for not being at `base`, although the log had come as far by then and went no further till later: by a
    shorter read or an earlier place that came afterwards, or because no more appends had been called at all."""
    one, other = it.first, it.second
    if not isinstance(one, Append) or not one.conflict or one.base is None:
        return False
    reached = _reached(log, it, one)
    if other is None:
        called = sum(each.status != "fail" and each.call <= one.ret for each in log.appends)
        return reached >= one.base and called <= reached + (reached != one.base)
    places = [log.place(pin, other.value) for pin in it.pins] if isinstance(other, Append) else []
    if isinstance(other, Read):
        places = [other.size]
    elif isinstance(other, Append) and other.number is not None:
        places.append(other.number - 1)
    return _later(it) and any(place is not None and place <= reached for place in places) and reached >= one.base


def _reached(log: Log, it: Violation, one: Append) -> int:
    """The least length of the log when a commit was sent, by what had ended: reads, acknowledgements, refusals."""
    ended = [read.size for read in log.reads if read.ret < one.call]
    acknowledged = [each for each in log.appends if each.status == "ok" and each.ret < one.call]
    ended += [each.number for each in acknowledged if each.number is not None and log.numbered]
    ended += [1 + (log.place(pin, each.value) or 0) for each in acknowledged for pin in it.pins]
    unseen = [each for each in acknowledged if not any(_shows(log, pin, each.value) for pin in it.pins)]
    if unseen and not log.numbered:  # no read shows them, so they stand behind the longest
        ended.append(max((pin.size for pin in it.pins), default=0) + len(unseen))
    least = max([len(acknowledged), *ended])
    earlier = sorted(
        (each for each in log.appends if each.conflict and each.ret < one.call and each.base is not None),
        key=lambda each: each.call,
    )
    for refused in earlier:
        least = max(least, _reached(log, it, refused) + (_reached(log, it, refused) == refused.base))
    return least


def _later(it: Violation) -> bool:
    return it.first is not None and it.second is not None and it.first.ret < it.second.call


def _numbered_beyond(log: Log, append: Append | Read | None, read: Append | Read | None) -> bool:
    if not (isinstance(append, Append) and isinstance(read, Read)) or append.number is None:
        return False
    return log.numbered and read.size < append.number


def _shows(log: Log, op: Append | Read | None, value: Value | None) -> bool:
    return isinstance(op, Read) and log.place(op, value) is not None


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
