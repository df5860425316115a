"""Check `session_size`: a session holds no more turns than promised, and early ones go with a summary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...observe.history import History, Sown
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.promised import promised
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..lifetimes import Clock, Deed, Life, lives_of, ordered
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict

_TURNS = ("append_turn", "run_turn")
_STANDING = (Channel.FACTS, Channel.CONTEXT)
"""Where what was taken away from the turns may go on standing for its task."""


def judge(history: History) -> Verdict:
    """Violated where a session showed or counted more turns than are promised at most, or where turns of a task were
    taken away and the task shows neither their content nor any fact that nobody had put there.

    Any such fact will do: whether a summary is a good one is no question for a canary, and a target that could not
    make one may say so instead. Only a target that promises to condense is asked for one.
    """
    promises = history.header.capabilities.promises
    most, condensing = promised(promises, "max_turns"), promised(promises, "condense_at")
    findings: list[Finding] = []
    controls: list[Control] = []
    filled = 0
    for life in lives_of(history, Clock(history)):
        sent = [deed for deed in ordered(life, *_TURNS) if deed.outcome.status != "info"]
        looks = [deed for deed in ordered(life, "list_turns", "session_info") if _size(deed) is not None]
        if most is not None and len(sent) > most:
            filled += 1
            findings += _unbounded(life, looks, most)
            controls += _controls(life, sent, looks, most)
        if condensing is not None and life.archived is None:
            found, control = _dropped(history, life)
            findings += found
            controls += control
    covered = bool(filled)
    return conclude(
        "session_size",
        Guarantee.LIFECYCLE,
        findings,
        controls,
        covered=covered,
        reason="" if covered else "no session was sent more turns than are promised at most",
        checked=filled,
        total=filled,
    )


def _size(deed: Deed) -> int | None:
    """How many turns an answer shows or counts; None where it says nothing of that."""
    value = deed.outcome.value
    if deed.outcome.status != "ok" or deed.call.arguments.get("limit") is not None:
        return None
    if isinstance(value, list):
        return len(value)
    turns = value.get("turns") if isinstance(value, dict) else None
    return turns if isinstance(turns, int) and not isinstance(turns, bool) else None


def _unbounded(life: Life, looks: list[Deed], most: float) -> Iterator[Finding]:
    over = [deed for deed in looks if (_size(deed) or 0) > most]
    if over:
        worst = max(over, key=lambda deed: _size(deed) or 0)
        claim = (
            f"{named(life.path)} held {_size(worst)} turns in {worst.call.op} #{worst.call.probe}: promised {most:g}"
        )
        evidence = [Evidence(deed.call.probe, deed.call.op, "", f"{_size(deed)} turns") for deed in over[:5]]
        yield _finding("PW306", claim, life, "", Channel.TURNS, evidence)


def _controls(life: Life, sent: list[Deed], looks: list[Deed], most: float) -> list[Control]:
    """A target may refuse what would be too much; one that refuses from the first turn on holds nothing at all."""
    whose = named(life.path)
    taken = sum(deed.outcome.status == "ok" for deed in sent)
    last = sent[-1].at
    late = [deed for deed in looks if deed.call.at > last or deed.age.most >= sent[-1].age.most]
    return [
        Control(f"{whose} took turns", Channel.TURNS, taken > most / 2, f"{taken} of {len(sent)}, promised {most:g}"),
        Control(
            f"{whose} was looked at when it was full", Channel.TURNS, bool(late), "" if late else "no look was answered"
        ),
    ]


def _dropped(history: History, life: Life) -> tuple[list[Finding], list[Control]]:
    """For each task of a session whose turns are gone from its last full listing: what stands for them, from the first
    listing on that lacked one of them."""
    exposure = exposure_of(history)
    listings = [deed for deed in ordered(life, "list_turns") if _size(deed)]
    shown: dict[str, set[str]] = {}
    for sight in exposure.sights:
        shown.setdefault(sight.observation.probe, set()).add(sight.opened.token)
    missing: dict[str, list[Sown]] = {}
    since: dict[str, int] = {}
    for entry in history.sown:
        turn = history.invocations[entry.probe].op in _TURNS and entry.canary.owner.path[:3] == life.path
        if not turn or history.outcome(entry.probe).status != "ok":
            continue
        later = [deed for deed in listings if deed.call.at > history.completions[entry.probe].at]
        lacking = [deed for deed in later if entry.canary.text not in shown.get(deed.call.probe, set())]
        if lacking and lacking[-1] is later[-1]:
            task = entry.canary.owner.task
            missing.setdefault(task, []).append(entry)
            since[task] = min(since.get(task, lacking[0].at), lacking[0].at)
    findings: list[Finding] = []
    controls: list[Control] = []
    for task, gone in missing.items():
        answers = [
            deed
            for deed in ordered(life, "list_facts", "context")
            if deed.call.scope[3] == task and deed.call.at > since[task] and deed.outcome.status == "ok"
        ]
        asked = any(deed.call.op == "list_facts" for deed in answers)
        if any(ordered(life, "list_facts")):  # a load that never asks for facts does not try this
            name = f"{named((*life.path, task))} was asked for its facts after turns of it were taken away"
            controls.append(Control(name, Channel.FACTS, asked, f"{len(gone)} were" if asked else "it was not"))
        if asked and not _stands(history, exposure, answers, {entry.canary.text for entry in gone}):
            findings.append(_loss(life, task, gone, answers))
    return findings, controls


def _stands(history: History, exposure: Exposure, answers: list[Deed], gone: set[str]) -> bool:
    """Whether anything the task shows may stand for what is gone: the content, or a fact that nobody put there."""
    probes = {deed.call.probe for deed in answers}
    if any(sight.observation.probe in probes and sight.opened.token in gone for sight in exposure.sights):
        return True
    put = [str(call.arguments.get("value", "")) for call in history.invocations.values() if call.op == "put_fact"]
    for deed in answers:
        if deed.call.op != "list_facts":
            continue
        items: Any = deed.outcome.value
        facts = items if isinstance(items, list) else list(items.values())
        texts = [json.dumps(fact, default=str, ensure_ascii=False) for fact in facts]
        if any(not any(value in text or json.dumps(value)[1:-1] in text for value in put) for text in texts):
            return True
    return False


def _loss(life: Life, task: str, gone: list[Sown], answers: list[Deed]) -> Finding:
    claim = (
        f"{len(gone)} turns of {named((*life.path, task))} are gone from its session, first canary "
        f"{gone[0].canary.short} of #{gone[0].probe}, and neither a fact of the task nor its context stands for them"
    )
    evidence = [Evidence(deed.call.probe, deed.call.op, "", "nothing stands for them") for deed in answers[:5]]
    return _finding("PW307", claim, life, task, Channel.FACTS, evidence)


def _finding(code: str, claim: str, life: Life, task: str, channel: str, evidence: list[Evidence]) -> Finding:
    return finding(
        code,
        claim,
        boundary="task" if task else "session",
        owner=(*life.path, task),
        observer=(*life.path, task),
        channel=channel,
        carrier="plain",
        evidence=evidence,
        kind=(channel,),
    )


CHECK = Check(
    id="session_size",
    title="a session stays within its bound, and early turns go with a summary",
    guarantee=Guarantee.LIFECYCLE,
    codes=frozenset({"PW306", "PW307"}),
    needs=frozenset({"append_turn | run_turn", "list_turns | session_info", "promises.max_turns"}),
    judge=judge,
)
