"""Check `claimed_identity`: an owner is who its credential proves, never who a request says."""

from __future__ import annotations

from ...observe.history import History, Invoked
from ...plan.capabilities import AUTHENTICATES
from ...plan.guarantee import Guarantee
from ...plan.operation import ANY_WRITE
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..provenance import Sight
from ..testimony import evidence_of, finding, named
from ..verdict import Control, Finding, Verdict


def judge(history: History) -> Verdict:
    """Violated where a call that claimed another's scope, or bore no good credential, was served as that owner.

    Served means that the owner's own canary came back, or that what the call planted turned up with the owner. A
    target that takes the ids for the caller's own and answers from the caller's own scope is right.
    """
    exposure = exposure_of(history)
    claims = {probe: call for probe, call in history.invocations.items() if _claims(call)}
    findings = [
        *_shown(exposure, claims),
        *_landed(exposure, claims),
    ]
    return conclude(
        "claimed_identity",
        Guarantee.ISOLATION,
        findings,
        _controls(exposure, claims),
        covered=bool(claims),
        reason="" if claims else "nobody claimed to be another",
    )


def _claims(call: Invoked) -> bool:
    return call.caller != call.scope[:2] or call.credential != "valid"


def _shown(exposure: Exposure, claims: dict[str, Invoked]) -> list[Finding]:
    """Reads: the addressed owner's canary in the answer to somebody else."""
    found: dict[tuple[object, ...], list[Sight]] = {}
    for sight in exposure.sights:
        call = claims.get(sight.observation.probe)
        if call is None or sight.owner is None or sight.owner.path[:2] != call.scope[:2]:
            continue
        if sight.observation.denied:
            continue  # a refusal may echo what the caller itself sent
        if call.credential != "valid" or sight.crossed is not None:
            found.setdefault((call.op, call.credential, call.caller, call.scope[:2]), []).append(sight)
    return [_finding(exposure, claims, sights, "was served as") for sights in found.values()]


def _landed(exposure: Exposure, claims: dict[str, Invoked]) -> list[Finding]:
    """Writes: what a claim planted, seen by the owner that it was claimed for."""
    found: dict[str, list[Sight]] = {}
    for sight in exposure.sights:
        call = claims.get(sight.planted_by)
        viewer = sight.observation.viewer
        if call is None or viewer[:2] != call.scope[:2] or sight.observation.probe in claims:
            continue
        if call.credential != "valid" or sight.crossed is not None:
            found.setdefault(sight.planted_by, []).append(sight)
    return [_finding(exposure, claims, sights, "wrote as") for sights in found.values()]


def _finding(exposure: Exposure, claims: dict[str, Invoked], sights: list[Sight], deed: str) -> Finding:
    first = sights[0]
    call = claims.get(first.observation.probe) or claims[first.planted_by]
    who = named(call.caller) if call.credential == "valid" else f"a caller with {_shown_credential(call)}"
    claim = (
        f"{who} {deed} {named(call.scope[:2])} by {call.op}, seen in {first.observation.channel} "
        f"#{first.observation.probe} (canary {first.opened.short}): the claim was believed"
    )
    parted = exposure.provenance.parted((*call.caller, *call.scope[2:]), call.scope)
    return finding(
        "PW108",
        claim,
        boundary=parted.label if parted else "tenant",
        owner=call.scope,
        observer=(*call.caller, call.scope[2], call.scope[3]),
        channel=first.observation.channel,
        carrier="plain",
        evidence=[evidence_of(sight, exposure.history.header.prefix) for sight in sights],
        kind=(call.op, call.credential, deed),
    )


def _shown_credential(call: Invoked) -> str:
    return {"none": "no credential", "expired": "an expired credential"}.get(call.credential, call.credential)


def _controls(exposure: Exposure, claims: dict[str, Invoked]) -> list[Control]:
    """Whoever is claimed for must have something to be served, and its own credential must serve it."""
    controls = []
    for owner in dict.fromkeys(call.scope[:2] for call in claims.values()):
        served = any(
            sight.crossed is None and sight.observation.viewer[:2] == owner and sight.observation.probe not in claims
            for sight in exposure.sights
        )
        name = f"{named(owner)} is served with its own credential"
        controls.append(Control(name, "", served, "" if served else "it never saw a canary of its own"))
    return controls


CHECK = Check(
    id="claimed_identity",
    title="an owner is who its credential proves",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset({"PW108"}),
    needs=frozenset({ANY_WRITE, AUTHENTICATES}),
    judge=judge,
)
