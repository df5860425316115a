"""Words: a violation told as two operations that contradict each other, with the times between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .model import Append, Log, Read, Violation


def told(log: Log, it: Violation) -> str:
    """One sentence a reader can check against the history: who, when, and what cannot both be."""
    return _SENTENCES[it.name](log, it)


def _phantom(log: Log, it: Violation) -> str:
    return f"{_read(it.second)} shows as turn {_place(it)} a text that no call had carried to the target"


def _bleed(log: Log, it: Violation) -> str:
    return f"{_read(it.second)} shows as turn {_place(it)} a text that was appended to another session"


def _failed(log: Log, it: Violation) -> str:
    return f"{_append(it.first)} was refused, or came under a request id already answered; {_read(it.second)} shows it"


def _duplicate(log: Log, it: Violation) -> str:
    times = log.shown(it.second).count(it.value) if isinstance(it.second, Read) else 2
    return f"{_append(it.first)} was made once; {_read(it.second)} shows it {times} times"


def _vanished(log: Log, it: Violation) -> str:
    return f"{_read(it.first)} shows a turn that {_read(it.second)}, of {_turns(it.second)}, does not"


def _disagreement(log: Log, it: Violation) -> str:
    return (
        f"{_read(it.first)} and {_read(it.second)} show the same turns in different orders, from turn {_place(it)} on"
    )


def _hole(log: Log, it: Violation) -> str:
    return f"{_read(it.first)} leaves out turn {_place(it)}, which {_read(it.second)} shows between the same neighbours"


def _mismatch(log: Log, it: Violation) -> str:
    if isinstance(it.second, Append):
        return f"{_append(it.first)} was acknowledged, and again #{it.second.id} as turn {it.second.number}"
    return f"{_append(it.first)} was acknowledged as turn {_number(it.first)}; {_pin(it)} shows it as turn {_place(it)}"


def _overwritten(log: Log, it: Violation) -> str:
    other = f"the turn of {_append(it.second)}" if it.second else "another turn"
    return f"{_append(it.first)} was acknowledged as turn {_place(it)}; there {_pin(it)} shows {other}"


def _one_number(log: Log, it: Violation) -> str:
    return f"{_append(it.first)} and {_append(it.second)} were both acknowledged as turn {_number(it.first)}"


def _cas(log: Log, it: Violation) -> str:
    one = it.first
    assert isinstance(one, Append)
    if isinstance(it.second, Append) and it.second.expected == one.expected:
        return f"{_append(one)} and {_append(it.second)} were both committed from version {one.expected}"
    return f"{_append(one)} was committed from version {one.expected}, although the log had moved on by then"


def _gap(log: Log, it: Violation) -> str:
    above = f"{_append(it.first)} was acknowledged as turn {_number(it.first)}" if it.first else "the log had grown"
    return f"{above}; turn {_place(it)} below it is nobody's: no append of unknown outcome began in time to take it"


def _lost(log: Log, it: Violation) -> str:
    return f"{_append(it.first)} was acknowledged {_between(it)}; {_shows(it.second)} at the end, and not that one"


def _stale(log: Log, it: Violation) -> str:
    return f"{_append(it.first)} was acknowledged {_between(it)}; {_shows(it.second)}, and not that one"


def _backwards(log: Log, it: Violation) -> str:
    return f"{_read(it.first)} showed {_turns(it.first)} and ended {_between(it)}; {_shows(it.second)}"


def _inverted(log: Log, it: Violation) -> str:
    return f"{_append(it.first)} was acknowledged {_between(it)}; the later turn stands before the earlier one"


def _future(log: Log, it: Violation) -> str:
    return f"{_read(it.first)} of {_turns(it.first)} ended {_between(it)}, and counts the turn appended only then"


def _spurious(log: Log, it: Violation) -> str:
    one = it.first
    assert isinstance(one, Append)
    return f"{_append(one)} was refused as stale, yet the log held {one.base} turns, as it expected, all the time"


def _append(op: Append | Read | None) -> str:
    if not isinstance(op, Append):
        return "an append"
    number = f" of turn {op.number}" if op.number is not None else ""
    return f"append{number} by {op.client} #{op.id}"


def _read(op: Append | Read | None) -> str:
    return f"the read by {op.client} #{op.id}" if isinstance(op, Read) else "a read"


def _shows(op: Append | Read | None) -> str:
    return f"{op.client}'s read #{op.id} shows {_turns(op)}" if isinstance(op, Read) else "a read shows less"


def _turns(op: Append | Read | None) -> str:
    size = op.size if isinstance(op, Read) else 0
    return f"{size} turn{'' if size == 1 else 's'}"


def _between(it: Violation) -> str:
    """`12 ms before c5 began to read`: the gap that makes the order of the two beyond dispute."""
    if it.first is None or it.second is None:
        return "before"
    doing = "read" if isinstance(it.second, Read) else f"append #{it.second.id}"
    return f"{_span(it.second.call - it.first.ret)} before {it.second.client} began to {doing}"


def _span(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"


def _pin(it: Violation) -> str:
    return _read(it.pins[0]) if it.pins else "a read"


def _place(it: Violation) -> int:
    return (it.slot or 0) + 1


def _number(op: Append | Read | None) -> int | None:
    return op.number if isinstance(op, Append) else None


_SENTENCES: Mapping[str, Callable[[Log, Violation], str]] = {
    "PHANTOM": _phantom,
    "BLEED": _bleed,
    "FAILED-BUT-VISIBLE": _failed,
    "DUPLICATE": _duplicate,
    "VANISHED": _vanished,
    "ORDER-DISAGREEMENT": _disagreement,
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
