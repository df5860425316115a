"""Check `no_effect`: a turn whose model failed stores nothing and has no tool do anything."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...observe.history import History, Invoked
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.identity import RawPath
from ...plan.operation import OPERATIONS, WRITES
from ..check import Check, conclude
from ..observation import viewer_of
from ..struck import StruckTurn, delivered_control, struck_turns, told_of, was_due
from ..verdict import Control, Evidence, Finding, Verdict

_LOOKS = ("list_memories", "list_facts", "side_effects")
"""What is stored, and what tools did. Turns are not among them: that the user's own stands is right."""

_CHANGING = WRITES | {"delete_memory", "delete_fact", "delete_session", "purge", "restart"}
_TELLING = ("id", "text", "key", "value", "layer", "name")
"""Fields of a record that say what it is; a score or a time of last use may change by a look alone."""

_MOST = 5


@dataclass(frozen=True, slots=True)
class _Look:
    """One answer to one question about what is stored."""

    probe: str
    op: str
    started: int
    ended: int
    items: Counter[str]


def judge(history: History) -> Verdict:
    """Violated where the same question about what is stored is answered differently before and after struck turns,
    with no other write between the two answers.

    A turn of which some attempt was answered well may do what it was asked, so it is left out. So is one beside which
    its own user wrote at the same time: whose effect a change is could not be said.
    """
    struck = struck_turns(history)
    turns = [turn for turn in struck if not turn.recovered and not _beside_a_write(history, turn)]
    looks = _looks(history)
    findings: list[Finding] = []
    judged: set[str] = set()
    for answers in looks.values():
        for before, after in pairwise(answers):
            inside = [turn for turn in turns if _within(turn.call.at, before, after)]
            if not inside or _disturbed(history, before, after, {turn.probe for turn in inside}):
                continue
            judged |= {turn.probe for turn in inside}
            if before.items != after.items:
                findings.append(_finding(inside, before, after))
    controls = [delivered_control(tuple(turns))]
    missed = [turn.probe for turn in turns if turn.probe not in judged]
    if turns:
        told = f"#{', #'.join(missed[:_MOST])} had not" if missed else f"all {len(turns)} had"
        controls.append(Control("every struck turn had a look before and after it", Channel.LIST, not missed, told))
        controls += _sighted(looks)
    return conclude(
        "no_effect",
        Guarantee.RESILIENCE,
        findings,
        controls,
        covered=bool(turns) or (was_due(history) and not struck),
        reason="" if turns else _excuse(struck),
        checked=len(judged),
        total=len(turns),
    )


def _excuse(struck: Sequence[StruckTurn]) -> str:
    return "every struck turn recovered, or its user wrote beside it" if struck else "no turn was struck by a fault"


def _beside_a_write(history: History, turn: StruckTurn) -> bool:
    for probe, call in history.invocations.items():
        end = history.completions.get(probe)
        overlaps = call.at < (turn.end or call.at + 1) and (end is None or end.at > turn.call.at)
        if probe != turn.probe and call.op in _CHANGING and overlaps and _same_user(call, turn.owner):
            return True
    return False


def _looks(history: History) -> dict[tuple[str, RawPath | None, str], list[_Look]]:
    """Answers by question, in order; an operator's ledger is one whoever asks."""
    found: dict[tuple[str, RawPath | None, str], list[_Look]] = defaultdict(list)
    for probe, call in history.invocations.items():
        end = history.completions.get(probe)
        if call.op not in _LOOKS or end is None or end.outcome.status != "ok":
            continue
        viewer = None if OPERATIONS[call.op].operator else viewer_of(call)
        asked = repr(sorted(call.arguments.items(), key=str))
        found[call.op, viewer, asked].append(_Look(probe, call.op, call.at, end.at, _items(end.outcome.value)))
    return found


def _within(at: int, before: _Look, after: _Look) -> bool:
    return before.ended <= at < after.started


def _disturbed(history: History, before: _Look, after: _Look, struck: set[str]) -> bool:
    """Whether anybody else may have changed the answer by a call that overlaps the window, or the struck turn itself by
    ending late.

    Another user's write is no excuse for a change in this user's list, but it is for one in the ledger of all.
    """
    viewer = viewer_of(history.invocations[before.probe])
    for probe, call in history.invocations.items():
        end = history.completions.get(probe)
        ended = end.at if end else None
        if probe in struck:
            if ended is None or ended > after.started:
                return True
            continue
        overlaps = call.at < after.ended and (ended is None or ended > before.started)
        if call.op in _CHANGING and overlaps and (before.op == "side_effects" or _same_user(call, viewer)):
            return True
    return False


def _same_user(call: Invoked, viewer: RawPath) -> bool:
    return call.caller == viewer[:2] or call.scope[:2] == viewer[:2]


def _items(value: Any) -> Counter[str]:
    items = value if isinstance(value, list) else [{"name": name, "value": item} for name, item in dict(value).items()]
    return Counter(json.dumps(_telling(item), sort_keys=True, default=str) for item in items)


def _telling(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    told = {name: item[name] for name in _TELLING if name in item}
    return told or dict(item)


def _sighted(looks: Mapping[tuple[str, RawPath | None, str], list[_Look]]) -> list[Control]:
    """A list that was always empty may be one that shows nothing; a ledger may be, of an agent without tools."""
    shown: dict[str, bool] = defaultdict(bool)
    for (op, _, _), answers in looks.items():
        shown[op] |= any(look.items for look in answers)
    return [
        Control(f"{op} shows what is there", OPERATIONS[op].channel, seen, "" if seen else "it was always empty")
        for op, seen in shown.items()
        if seen or op != "side_effects"
    ]


def _finding(turns: list[StruckTurn], before: _Look, after: _Look) -> Finding:
    gone, new = before.items - after.items, after.items - before.items
    changes = [f"{gone.total()} gone"] * bool(gone) + [f"{new.total()} new"] * bool(new)
    others = f" (with #{', #'.join(turn.probe for turn in turns[1:])})" if len(turns) > 1 else ""
    evidence = [
        Evidence(after.probe, after.op, "", f"{'-' if items is gone else '+'} {_short(item)}", at=after.ended)
        for items in (gone, new)
        for item in list(items)[:_MOST]
    ]
    what = f"{before.op} #{before.probe} and #{after.probe} differ by {' and '.join(changes)}{others}"
    return told_of(turns[0], "PW701", what, OPERATIONS[after.op].channel, tuple(evidence))


def _short(item: str) -> str:
    # what was stored may hold a canary, and evidence must not show a whole one: its kind and size will do
    record = json.loads(item)
    named = record.get("key") or record.get("name") or record.get("id") if isinstance(record, dict) else ""
    return f"{str(named)[:40] or 'an entry'} ({len(item)} characters)"


CHECK = Check(
    id="no_effect",
    title="a turn whose model failed changes nothing",
    guarantee=Guarantee.RESILIENCE,
    codes=frozenset({"PW701"}),
    needs=frozenset({"run_turn", "list_memories | list_facts | side_effects"}),
    judge=judge,
)
