"""Check `layer_writes`: the user layer is written to when it is asked to be, and far less than the other two."""

from __future__ import annotations

import re
from collections import Counter

from ...observe.history import History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.leaves import leaves
from ...plan.operation import ANY_WRITE
from ..check import Check, conclude
from ..testimony import finding
from ..verdict import Control, Evidence, Finding, Verdict

_METRIC = re.compile(
    r'^partywall_layer_writes(?:_total)?\{[^}]*layer="(session|task|user)"[^}]*\}\s+([0-9.eE+]+)', re.M
)
_LAYER_OF = {
    "create_session": "session",
    "append_turn": "session",
    "run_turn": "session",
    "add_memory": "user",
    "put_artifact": "task",
}
SHARE = 0.1
"""The user layer's share of all writes that is still far below the others."""


def judge(history: History) -> Verdict:
    """Violated where, between the first and the last look at the metrics, more writes to the user layer were counted
    than were asked for, and they are more than a tenth of all, though a tenth or less of those asked for was.

    How a target counts is its own affair: a turn of the agent may be two writes, an artifact none. So neither the
    share nor the excess alone says anything.
    """
    views = [
        (probe, counts)
        for probe, call in history.invocations.items()
        if call.op == "metrics" and (counts := _counts(history, probe)) is not None
    ]
    if len(views) < 2:
        reason = "nobody read counts of writes by layer before and after"
        return conclude("layer_writes", Guarantee.ISOLATION, (), (), covered=False, reason=reason)
    (first, before), (last, after) = views[0], views[-1]
    asked = _asked(history, history.invocations[first].at, history.completions[last].at)
    counted = {layer: after[layer] - before[layer] for layer in ("session", "task", "user")}
    sparing = sum(asked.values()) > 0 and asked["user"] <= SHARE * sum(asked.values())
    findings: list[Finding] = []
    total = sum(counted.values())
    if sparing and counted["user"] > asked["user"] and counted["user"] > SHARE * total:
        findings.append(_finding(counted, asked["user"], last))
    heard = counted["session"] + counted["task"] > 0
    control = Control(
        "writes to sessions and tasks were counted", Channel.METRICS, heard, "" if heard else "none was, of those made"
    )
    return conclude(
        "layer_writes",
        Guarantee.ISOLATION,
        findings,
        [control],
        covered=sparing,
        reason="" if sparing else "more than a tenth of the writes asked for were to the user layer",
        checked=sum(asked.values()),
        total=sum(asked.values()),
    )


def _counts(history: History, probe: str) -> Counter[str] | None:
    """Writes by layer as a look at the metrics tells them, over all series; None where it tells none."""
    outcome = history.outcome(probe)
    text = "\n".join(text for _, text in leaves(outcome.value)) if outcome.status == "ok" else ""
    counts: Counter[str] = Counter()
    for layer, number in _METRIC.findall(text):
        counts[layer] += round(float(number))
    return counts or None


def _asked(history: History, start: int, end: int) -> Counter[str]:
    """Writes that callers asked for and that were not surely refused, by the layer that each is for."""
    asked: Counter[str] = Counter()
    for probe, call in history.invocations.items():
        if start < call.at < end and history.outcome(probe).status != "fail":
            layer = str(call.arguments.get("layer")) if call.op == "put_fact" else _LAYER_OF.get(call.op)
            if layer is not None:
                asked[layer] += 1
    return asked


def _finding(counted: dict[str, int], asked: int, probe: str) -> Finding:
    told = ", ".join(f"{number} to the {layer} layer" for layer, number in counted.items())
    claim = f"{told} were counted by #{probe}, of which {asked} of the user's had been asked for"
    return finding(
        "PW322",
        claim,
        boundary="user",
        owner=None,
        observer=("", "", "", ""),
        channel=Channel.METRICS,
        carrier="plain",
        evidence=[Evidence(probe, "metrics", "", told)],
        kind=("writes",),
    )


CHECK = Check(
    id="layer_writes",
    title="the user layer is written to when asked, and seldom",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset({"PW322"}),
    needs=frozenset({ANY_WRITE, "metrics"}),
    judge=judge,
)
