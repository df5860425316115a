"""Check `attribution`: a prompt is built for the one who asked."""

from __future__ import annotations

from ...observe.history import History, Seen
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ..check import Check, conclude
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict


def judge(history: History) -> Verdict:
    """Violated where a caught prompt bears the marks of two different probes that were in flight."""
    prompts = [entry for entry in history.entries if isinstance(entry, Seen) and entry.channel == Channel.PROMPT]
    told = [entry for entry in prompts if entry.viewer is not None]
    findings = [_finding(entry) for entry in prompts if entry.conflict]
    control = Control(
        "prompts are attributed to the probe in flight",
        Channel.PROMPT,
        bool(told),
        f"{len(told)} of {len(prompts)} were" if told else "none was, of none caught" if not prompts else "none was",
    )
    watched = Channel.PROMPT in history.header.capabilities.watches
    asked = any(call.op == "run_turn" for call in history.invocations.values())
    return conclude(
        "attribution",
        Guarantee.ISOLATION,
        findings[:1] if findings else (),
        [control] if watched and asked else [],
        covered=watched and asked,
        reason="" if watched and asked else "no model stands behind the target whose prompts are watched",
    )


def _finding(entry: Seen) -> Finding:
    viewer = entry.viewer or ("", "", "", "")
    taken = f"it was taken for {named(viewer)}'s" if entry.viewer else "it is nobody's for sure"
    claim = f"prompt at {entry.at} bears the marks of two probes in flight ({entry.how}); {taken}: attribution mismatch"
    evidence = Evidence(entry.probe or "", "run_turn", "", "", (), "", "", entry.at)
    return finding(
        "PW109",
        claim,
        boundary="user",
        owner=entry.viewer,
        observer=viewer,
        channel=Channel.PROMPT,
        carrier="plain",
        evidence=[evidence],
        kind=(entry.how,),
    )


CHECK = Check(
    id="attribution",
    title="a prompt is built for the one who asked",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset({"PW109"}),
    needs=frozenset({"run_turn"}),
    judge=judge,
)
