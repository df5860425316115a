"""Check `secrecy`: a log line locates what happened, and holds neither content nor a person."""

from __future__ import annotations

import re

from partywall.canaries import redact_tokens

from ...observe.history import History
from ...plan.guarantee import Guarantee
from ...plan.leaves import leaves
from ...plan.operation import ANY_WRITE
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..testimony import finding
from ..verdict import Control, Evidence, Finding, Verdict

_LONG_ENOUGH = 8
"""A user id shorter than this may stand in a log by chance: `ann` is in `channel`."""


def judge(history: History) -> Verdict:
    """Violated where a log line that came to be while the owners worked holds a canary, or a user's id in clear."""
    exposure = exposure_of(history)
    views = [probe for probe, call in history.invocations.items() if call.op == "read_log"]
    seen = [probe for probe in views if history.outcome(probe).status == "ok"]
    if len(views) < 2:
        return conclude(
            "secrecy", Guarantee.SECRECY, (), (), covered=False, reason="nobody read the log before and after"
        )
    controls = [
        Control("every view of the log was answered", "log", len(seen) == len(views), f"{len(seen)} of {len(views)}")
    ]
    findings: list[Finding] = []
    if len(seen) > 1:
        earlier = set(_lines(history, seen[0]))
        fresh = [line for line in _lines(history, seen[-1]) if line not in earlier]
        controls.append(Control("lines came to be in the log", "log", bool(fresh), f"{len(fresh)} did"))
        findings = [*_content(exposure, fresh, seen[-1]), *_persons(exposure, fresh, seen[-1])]
    return conclude("secrecy", Guarantee.SECRECY, findings, controls)


def _lines(history: History, probe: str) -> list[str]:
    return [line for _, text in leaves(history.outcome(probe).value) for line in text.splitlines()]


def _content(exposure: Exposure, lines: list[str], probe: str) -> list[Finding]:
    held = [(line, tokens) for line in lines if (tokens := exposure.provenance.tokens(line))]
    if not held:
        return []
    claim = f"{len(held)} log lines hold what a user said or stored, canaries in them"
    prefix = exposure.history.header.prefix
    evidence = [Evidence(probe, "read_log", "", redact_tokens(line, prefix)[:400]) for line, _ in held]
    return [_finding("PW601", claim, evidence)]


def _persons(exposure: Exposure, lines: list[str], probe: str) -> list[Finding]:
    users = {owner[1] for owner in exposure.provenance.owners if owner[1] and len(owner[1]) >= _LONG_ENOUGH}
    if not users:
        return []
    named = re.compile("|".join(re.escape(user) for user in sorted(users)))
    held = [line for line in lines if named.search(line)]
    if not held:
        return []
    claim = f"{len(held)} log lines name a user in clear"
    return [_finding("PW602", claim, [Evidence(probe, "read_log", "", line[:400]) for line in held])]


def _finding(code: str, claim: str, evidence: list[Evidence]) -> Finding:
    return finding(
        code,
        claim,
        boundary="user",
        owner=None,
        observer=("", "", "", ""),
        channel="log",
        carrier="plain",
        evidence=evidence,
        kind=("log",),
    )


CHECK = Check(
    id="secrecy",
    title="the log holds neither content nor a person",
    guarantee=Guarantee.SECRECY,
    codes=frozenset({"PW601", "PW602"}),
    needs=frozenset({ANY_WRITE, "read_log"}),
    judge=judge,
)
