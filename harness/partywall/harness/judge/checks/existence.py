"""Check `existence`: the answer to a stranger is the same whether or not the thing exists."""

from __future__ import annotations

import re

from ...observe.history import History, Invoked
from ...observe.outcome import Outcome
from ...plan.guarantee import Guarantee
from ...plan.leaves import leaves
from ...plan.operation import ANY_OBSERVATION, ANY_WRITE
from ..check import Check, conclude
from ..exposure import exposure_of
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict


def judge(history: History) -> Verdict:
    """Violated where a stranger's question about another's thing and its twin, about one that never was, are
    answered apart: status, code, and text with the asked-for ids masked.

    An answer that shows the owner's content is a leak and judged there; a difference is the fainter signal.
    """
    exposure = exposure_of(history)
    leaking = {sight.observation.probe for sight in exposure.sights if sight.crossed is not None}
    findings: list[Finding] = []
    controls: list[Control] = []
    for probe, call in history.invocations.items():
        if not call.twin or call.twin not in history.invocations:
            continue
        twin = history.invocations[call.twin]
        one, other = history.outcome(probe), history.outcome(call.twin)
        known = one.status != "info" and other.status != "info"
        name = f"{call.op} of another's and of nobody's were both answered"
        controls.append(Control(name, "errors", known, f"#{probe} {one.status}, #{call.twin} {other.status}"))
        if known and probe not in leaking and _signal(call, one) != _signal(twin, other):
            findings.append(_finding(call, twin, one, other))
    return conclude(
        "existence",
        Guarantee.ISOLATION,
        findings,
        controls,
        covered=bool(controls),
        reason="" if controls else "nobody asked for what never was",
    )


def _signal(call: Invoked, outcome: Outcome) -> tuple[str, str, str]:
    """What a stranger can tell apart. Ids that it sent itself are masked: an answer may echo them."""
    told = "\n".join(text for _, text in leaves(outcome.value)) if outcome.status == "ok" else outcome.reason
    sent = {text for _, text in leaves(dict(call.arguments)) if len(text) > 1}
    sent |= {part for part in call.scope if part and len(part) > 1}
    for text in sorted(sent, key=len, reverse=True):
        told = told.replace(text, "§")
    return outcome.status, outcome.code, re.sub(r"[0-9a-f]{8,}|\d+", "#", told)


def _finding(call: Invoked, twin: Invoked, one: Outcome, other: Outcome) -> Finding:
    stranger = (*call.caller, call.scope[2], call.scope[3])
    claim = (
        f"{named(call.caller)} was told {_told(one)} by {call.op} #{call.probe} of another's thing, and {_told(other)} "
        f"#{twin.probe} of one that never was: the difference says that it exists"
    )
    return finding(
        "PW107",
        claim,
        boundary="tenant",
        owner=None,
        observer=stranger,
        channel="errors",
        carrier="plain",
        evidence=[
            Evidence(each.probe, each.op, "", f"{end.status} {end.code} {end.reason[:200]}", at=each.at)
            for each, end in ((call, one), (twin, other))
        ],
        kind=(call.op,),
    )


def _told(outcome: Outcome) -> str:
    return outcome.status if outcome.status == "ok" else f"{outcome.status} ({outcome.code or 'no code'})"


CHECK = Check(
    id="existence",
    title="a stranger cannot tell what exists",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset({"PW107"}),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    judge=judge,
)
