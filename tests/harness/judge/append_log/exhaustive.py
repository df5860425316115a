"""Exhaustive: a search over every linearization of a small log, and random small logs to put to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from partywall.harness.judge.append_log.model import INFINITY, Append, Log, Read, Value, log_of

Shown = tuple[str, str, int, int, tuple[Value, ...]]


def linearizable(log: Log) -> bool:
    """Whether some order of instants, one within each operation, explains every answer: tried out, all of them."""
    ops: list[Append | Read] = [*log.reads]
    ops += [append for append in log.appends if append.status != "fail" or append.conflict]
    optional = [isinstance(op, Append) and op.status == "info" for op in ops]
    seen: set[tuple[int, tuple[Value, ...]]] = set()
    everything = sum(1 << index for index in range(len(ops)) if not optional[index])
    stack: list[tuple[int, tuple[Value, ...]]] = [(0, ())]
    while stack:
        done, state = stack.pop()
        if done & everything == everything:
            return True
        if (done, state) in seen:
            continue
        seen.add((done, state))
        open_ = [index for index in range(len(ops)) if not done >> index & 1]
        first_end = min(ops[index].ret for index in open_ if not optional[index])
        for index in open_:
            if ops[index].call <= first_end and (after := _applied(log, ops[index], state)) is not None:
                stack.append((done | 1 << index, after))
    return False


def _applied(log: Log, op: Append | Read, state: tuple[Value, ...]) -> tuple[Value, ...] | None:
    if isinstance(op, Read):
        return state if log.shown(op) == state else None
    if op.conflict:
        return state if len(state) != op.base else None
    if op.base is not None and op.base != len(state):
        return None
    if op.status == "ok" and log.numbered and op.number != len(state) + 1:
        return None
    return (*state, op.value)


def small_log(rng: random.Random) -> Log:
    """A log of at most seven operations: what a right or a wrong target might have answered, ties and all.

    Operations take effect at an instant of theirs; then up to two answers are falsified.
    """
    numbered, cas = rng.random() < 0.5, rng.random() < 0.4
    span = rng.choice((4, 8, 14))
    drafts = []
    for index in range(rng.randint(2, 7)):
        call = rng.randrange(span)
        ret = call + rng.choice((0, 1, 1, 2, 3, 5))
        kind = rng.choices(("append", "read"), (3, 2))[0]
        unknown = kind == "append" and rng.random() < 0.25
        at = rng.uniform(call, ret + rng.choice((0, 9)) if unknown else ret)
        if unknown and rng.random() < 0.4:
            at = INFINITY
        drafts.append((at, rng.random(), index, kind, call, ret, unknown))
    state: list[Value] = []
    appends: list[Append] = []
    reads: list[Shown] = []
    for at, _, index, kind, call, ret, unknown in sorted(drafts):
        name, client = f"o{index}", f"c{rng.randrange(3)}"
        if kind == "read":
            reads.append((name, client, call, ret, tuple(state)))
            continue
        base = max(0, len(state) + rng.choice((0, 0, 0, -1, 1))) if cas and rng.random() < 0.5 else None
        append = Append(name, client, call, ret, "ok", name, expected=base, base=base)
        if rng.random() < 0.06:
            append = replace(append, status="fail", base=None, expected=None)
        elif base is not None and base != len(state):
            append = replace(append, status="fail", conflict=True)
        elif at < INFINITY:
            state.append(name)
            append = replace(append, number=len(state))
        if unknown:
            append = replace(append, status="info", ret=INFINITY, number=None, conflict=False)
        appends.append(append)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        _falsify(rng, appends, reads)
    reads.sort(key=lambda read: (read[2], read[0]))
    if not numbered:
        appends = [replace(append, number=None) for append in appends]
    return log_of(appends, reads, numbered)


def _falsify(rng: random.Random, appends: list[Append], reads: list[Shown]) -> None:
    choice = rng.randrange(7)
    if choice < 4 and reads:
        index = rng.randrange(len(reads))
        values = list(reads[index][4])
        if choice == 0 and values:
            values.pop(rng.randrange(len(values)))
        elif choice == 1 and len(values) > 1:
            rng.shuffle(values)
        elif choice == 2 and values:
            values = values[: rng.randrange(len(values))]
        elif appends:
            values.append(rng.choice(appends).value)
        reads[index] = (*reads[index][:4], tuple(values))
    elif appends:
        index = rng.randrange(len(appends))
        append = appends[index]
        if choice == 4 and append.status == "ok" and append.number is not None:
            append = replace(append, number=max(1, append.number + rng.choice((-1, 1, 1, 2))))
        elif choice == 5 and append.base is not None and append.status != "info":
            base = max(0, append.base + rng.choice((-1, 1)))
            append = replace(append, base=base, expected=base)
        elif choice == 6 and append.status == "info":
            append = replace(append, status="ok", ret=append.call + 2, number=len(appends))
        appends[index] = append


def exact(log: Log, shown: Sequence[Value]) -> bool:
    """Whether the sweep promises the exact answer: without numbers, a commit that nobody saw is only bounded."""
    unseen = [append for append in log.appends if append.status != "fail" and append.value not in shown]
    return log.numbered or all(append.base is None for append in unseen)
