"""Check `session_canary`: every session keeps a canary of its own, so that production can look for it."""

from __future__ import annotations

from collections import defaultdict

from ...observe.history import History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ..check import Check, conclude
from ..exposure import exposure_of
from ..observation import Observation
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict

_KIND = "session"
_UNWATCHED = "no model stands behind the target whose prompts are watched"


def judge(history: History) -> Verdict:
    """Violated where a turn asked its model, and no prompt of it held a session canary that the deployment minted.

    A turn may ask more than once, and not every prompt of it is its context: one that condenses old turns needs none.
    """
    asked = _prompts(history)
    own = {
        sight.observation.probe
        for sight in exposure_of(history).sights
        if sight.observation.channel == Channel.PROMPT and not sight.planted_by and sight.opened.kind == _KIND
    }
    findings = [_found(probe, prompts[0]) for probe, prompts in asked.items() if probe not in own]
    watched = Channel.PROMPT in history.header.capabilities.watches
    covered = watched and any(call.op == "run_turn" for call in history.invocations.values())
    told = f"{len(asked)} turns did"
    controls = [Control("turns of sessions asked the model", Channel.PROMPT, bool(asked), told)]
    return conclude(
        "session_canary",
        Guarantee.ISOLATION,
        findings[:1],
        controls if covered else [],
        covered=covered,
        reason="" if asked else "no prompt of a session was seen" if watched else _UNWATCHED,
        checked=len(asked),
        total=len(asked),
    )


def _prompts(history: History) -> dict[str, list[Observation]]:
    found: dict[str, list[Observation]] = defaultdict(list)
    for seen in exposure_of(history).observations:
        if seen.channel == Channel.PROMPT and seen.op == "run_turn" and seen.viewer[2]:
            found[seen.probe].append(seen)
    return found


def _found(probe: str, prompt: Observation) -> Finding:
    claim = f"the turn #{probe} of {named(prompt.viewer)} asked the model without a canary of its session"
    return finding(
        "PW902",
        claim,
        boundary="session",
        owner=None,
        observer=prompt.viewer,
        channel=Channel.PROMPT,
        carrier="plain",
        evidence=[Evidence(probe, prompt.op, "", "", at=prompt.at)],
        kind=("session canary",),
    )


CHECK = Check(
    id="session_canary",
    title="every session keeps a canary of its own",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset({"PW902"}),
    needs=frozenset({"run_turn", "promises.session_canaries"}),
    judge=judge,
)
