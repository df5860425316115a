"""Check `erasure`: what was purged is nowhere any more, what was not is still there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from partywall.canaries import Canary, Level

from ...observe.history import History, Invoked
from ...plan.guarantee import Guarantee
from ...plan.leaves import leaves
from ...plan.operation import ANY_WRITE
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict


@dataclass(frozen=True, slots=True)
class _Purge:
    """An acknowledged purge: of what, and when its call began and ended."""

    call: Invoked
    level: Level
    ended: int

    def covers(self, canary: Canary) -> bool:
        """Whether a canary lived at the purged level or below it: a session's purge keeps the user's memory."""
        same = canary.owner.path[: self.level] == self.call.scope[: self.level]
        return same and canary.reach.get("*", Level.TASK) >= self.level


_VOLATILE = frozenset({"cache", "log"})
"""Places whose content may go without anybody having erased it: what is there alone is not kept."""


@dataclass(frozen=True, slots=True)
class _View:
    """What one look at everything at rest showed: token → the places it stood in, and the lines of the log."""

    probe: str
    started: int
    at: int
    held: dict[str, frozenset[str]]
    log: frozenset[str]

    def keeps(self, canary: Canary) -> bool:
        """Whether a canary stands where it stays."""
        return bool(self.held.get(canary.text, frozenset()) - _VOLATILE)


def judge(history: History) -> Verdict:
    """Violated where a canary that an acknowledged purge covers is found afterwards, at rest or in any answer
    (residue, or resurrection where it had been gone), or where one that it does not cover is gone (over-reach).

    A log locates what happened and should hold no content, so that no canary is found there: of a purged tenant a line
    that names it, and stood there before, is residue. A new line is none: that a purge was done may be recorded.
    Only content acknowledged before the purge was called counts: a late write of another caller may land after it.
    """
    exposure = exposure_of(history)
    views = [_view(history, exposure, probe) for probe, call in history.invocations.items() if _viewed(history, call)]
    purges = [found for call in history.invocations.values() if (found := _purge(history, call)) is not None]
    findings: list[Finding] = []
    controls: list[Control] = []
    for purge in purges:
        before = [view for view in views if view.at < purge.call.at]
        after = [view for view in views if view.started > purge.ended]
        covered, others = _canaries(history, purge)
        controls += _controls(purge, before, after, covered, others)
        findings += _residue(exposure, purge, after, covered)
        findings += _named_in_the_log(purge, before, after)
        findings += _over_reach(purge, before, after, others)
    return conclude(
        "erasure",
        Guarantee.ERASURE,
        findings,
        controls,
        covered=bool(purges),
        reason="" if purges else "no purge was acknowledged",
    )


def _viewed(history: History, call: Invoked) -> bool:
    return call.op == "stored_bytes" and history.outcome(call.probe).status == "ok"


def _view(history: History, exposure: Exposure, probe: str) -> _View:
    held: dict[str, set[str]] = {}
    for pointer, text in leaves(history.outcome(probe).value):
        for token in exposure.provenance.tokens(text):
            held.setdefault(token, set()).add(pointer.split("/")[1] if "/" in pointer else "")
    whole = {token: frozenset(places) for token, places in held.items()}
    lines = frozenset(str(line) for line in history.outcome(probe).value.get("log", ()))
    return _View(probe, history.invocations[probe].at, history.completions[probe].at, whole, lines)


def _purge(history: History, call: Invoked) -> _Purge | None:
    level = str(call.arguments.get("level", "")).upper()
    if call.op != "purge" or history.outcome(call.probe).status != "ok" or level not in Level.__members__:
        return None
    return _Purge(call, Level[level], history.completions[call.probe].at)


def _canaries(history: History, purge: _Purge) -> tuple[list[Canary], list[Canary]]:
    """Those that the purge covers, and the neighbours'; both acknowledged before it was called."""
    told = [
        sown.canary
        for sown in history.sown
        if history.outcome(sown.probe).status == "ok" and history.completions[sown.probe].at < purge.call.at
    ]
    return [c for c in told if purge.covers(c)], [c for c in told if not purge.covers(c)]


def _controls(
    purge: _Purge, before: list[_View], after: list[_View], covered: list[Canary], others: list[Canary]
) -> list[Control]:
    whose = named(purge.call.scope[: purge.level])
    was_there = any(canary.text in view.held for view in before for canary in covered)
    still_seen = any(canary.text in view.held for view in after for canary in others)
    return [
        Control(
            f"{whose}'s content was found at rest before its purge",
            "bytes",
            was_there,
            "" if was_there else "it was not",
        ),
        Control(
            f"a neighbour's content is found at rest after {whose}'s purge",
            "bytes",
            still_seen,
            "" if still_seen else "it is not, so the view may be blind",
        ),
    ]


def _residue(exposure: Exposure, purge: _Purge, after: list[_View], covered: list[Canary]) -> list[Finding]:
    found: dict[tuple[str, str], list[Evidence]] = {}
    gone: set[str] = set()
    for view in after:
        for canary in covered:
            if canary.text not in view.held:
                gone.add(canary.text)
            for place in view.held.get(canary.text, ()):
                code = "PW403" if canary.text in gone else "PW401"
                evidence = Evidence(view.probe, "stored_bytes", f"/{place}", "", canary=canary.short, at=view.at)
                found.setdefault((code, place), []).append(evidence)
    texts = {canary.text: canary for canary in covered}
    for sight in exposure.sights:
        observation = sight.observation
        if observation.started > purge.ended and sight.opened.token in texts:
            evidence = Evidence(observation.probe, observation.op, sight.place, "", canary=sight.opened.short)
            found.setdefault(("PW401", observation.channel), []).append(evidence)
    return [_found(purge, code, place, evidence) for (code, place), evidence in found.items()]


def _named_in_the_log(purge: _Purge, before: list[_View], after: list[_View]) -> list[Finding]:
    if purge.level is not Level.TENANT or not before or not after:
        return []
    tenant = str(purge.call.scope[0])
    # the whole name: a neighbour's may begin with it
    names = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(tenant)}(?![A-Za-z0-9_-])|{re.escape(quote(tenant, safe=''))}\b")
    left = sorted(line for line in before[-1].log & after[-1].log if names.search(line))
    if not left:
        return []
    claim = (
        f"{len(left)} lines of the log that name {named((tenant,))} stood there before the purge #{purge.call.probe}, "
        f"and stand there still in #{after[-1].probe}"
    )
    evidence = [Evidence(after[-1].probe, "stored_bytes", "/log", line[:200], at=after[-1].at) for line in left]
    return [_finding("PW401", claim, purge, "log", evidence)]


def _found(purge: _Purge, code: str, place: str, evidence: list[Evidence]) -> Finding:
    whose = named(purge.call.scope[: purge.level])
    deed = "is back" if code == "PW403" else "is still"
    claim = (
        f"canary {evidence[0].canary} of {whose} {deed} in {place} #{evidence[0].probe} after the purge "
        f"#{purge.call.probe} was confirmed ({len(evidence)} sightings)"
    )
    return _finding(code, claim, purge, place, evidence)


def _over_reach(purge: _Purge, before: list[_View], after: list[_View], others: Iterable[Canary]) -> list[Finding]:
    if not before or not after:
        return []
    lost = [c for c in others if before[-1].keeps(c) and not any(view.keeps(c) for view in after)]
    if not lost:
        return []
    whose = named(purge.call.scope[: purge.level])
    claim = (
        f"{len(lost)} canaries outside {whose} were at rest in #{before[-1].probe} and gone in #{after[0].probe}, "
        f"first {lost[0].short} of {named(lost[0].owner.path)}: the purge #{purge.call.probe} reached too far"
    )
    evidence = [Evidence(after[0].probe, "stored_bytes", "", "", canary=canary.short) for canary in lost]
    return [_finding("PW402", claim, purge, "bytes", evidence)]


def _finding(code: str, claim: str, purge: _Purge, place: str, evidence: list[Evidence]) -> Finding:
    return finding(
        code,
        claim,
        boundary=purge.level.label,
        owner=purge.call.scope,
        observer=("", "", "", ""),
        channel="bytes",
        carrier="plain",
        evidence=evidence,
        kind=(place, purge.level.label),
    )


CHECK = Check(
    id="erasure",
    title="a purge leaves nothing of its owner and takes nothing of a neighbour",
    guarantee=Guarantee.ERASURE,
    codes=frozenset({"PW401", "PW402", "PW403"}),
    needs=frozenset({ANY_WRITE, "purge", "stored_bytes"}),
    judge=judge,
)
