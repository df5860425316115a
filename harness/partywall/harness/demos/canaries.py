"""Canaries: every owner's mark is its own, its owner sees it, and whoever else is shown it is caught."""

from __future__ import annotations

import random

from partywall.canaries import Keyring, Level, open_token

from ..plan import Guarantee, Planting, Scenario, Schedule, Script
from ..run import RunResult
from ._demo import Account, Demo
from ._stage import NotShown, Stage

CODE = "PW101"
_CHECK = "leak"


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Two tenants that agree in every lower id write, read their context and ask the same question."""
    script = Script(mint, rng)
    owner, stranger = script.pair(Level.TENANT)
    script.phase(script.opening(owner, stranger))
    for scope in (owner, stranger):
        script.phase(script.plant("append_turn", scope))
    for scope in (owner, stranger):
        script.phase(script.probe("context", scope), script.probe("cached_answer", scope, query="Which one is open?"))
    return script.schedule()


SCENARIO = Scenario(
    id="canaries",
    hazard=__doc__ or "",
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({"append_turn", "context", "cached_answer"}),
    plan=plan,
    direction=Level.TENANT,
)


async def run(stage: Stage, account: Account) -> None:
    """The same two tenants, once on the agent as it stands and once with its answer cache keyed by the question."""
    sound = await _judged(stage, faulty=False)
    _minted(account, sound)
    controls = [
        control for verdict in sound.judgements[0].verdicts if verdict.check == _CHECK for control in verdict.controls
    ]
    for control in controls:
        account.tell(f"  {control.channel}: {control.detail}")
    passed = sum(control.passed for control in controls)
    account.claim(
        f"each owner sees its own through the same channels: {passed} of {len(controls)} controls",
        bool(controls) and passed == len(controls),
        [control.name for control in controls if not control.passed],
    )
    foreign = _claims(sound)
    account.claim(f"foreign canaries seen on the agent as it stands: {len(foreign)}", not foreign, foreign)
    caught = _claims(await _judged(stage, faulty=True))
    for claim in caught[:1]:
        account.tell(f"  {CODE} {claim}")
    account.claim(f"a foreign one is caught in {stage.faulty_name}", bool(caught), "nothing")


async def _judged(stage: Stage, faulty: bool) -> RunResult:
    result = await stage.verified(SCENARIO, faulty)
    if not result.judgements or result.failures or result.problems:
        told = [*result.failures, *result.problems, *(skipped.reason for skipped in result.not_run)]
        raise NotShown(f"a run that could be judged: {'; '.join(told) or 'nothing was judged'}")
    return result


def _minted(account: Account, result: RunResult) -> None:
    """Each canary opens with the run's keys to its own owner, and parts from the other at the tenant."""
    history = result.histories[0]
    keyrings = [Keyring.from_record(record) for record in history.header.keyrings]
    canaries = [sown.canary for sown in history.sown]
    owners = {canary.owner for canary in canaries}
    right = True
    for canary in canaries:
        opened = open_token(canary.text, keyrings)
        account.tell(f"  minted {canary.short} for {'/'.join(canary.owner.path)}")
        others = [other for other in owners if other != canary.owner]
        right &= opened is not None and opened.boundary(canary.owner) is None
        right &= opened is not None and all(opened.boundary(other) is Level.TENANT for other in others)
    account.claim(
        f"{len({canary.text for canary in canaries})} canaries, {len(owners)} owners; each opens to its own",
        right and len(owners) == len({canary.text for canary in canaries}) == 2,
    )


def _claims(result: RunResult) -> list[str]:
    return [
        finding.claim
        for judgement in result.judgements
        for verdict in judgement.verdicts
        for finding in verdict.findings
        if finding.code == CODE
    ]


DEMO = Demo(id="canaries", number=9, title="canaries", run=run)
