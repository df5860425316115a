"""While a model keeps one turn waiting, the session must go on taking writes: no lock is held across a model call."""

import random
from dataclasses import replace

from partywall.canaries import Level, Scope
from partywall.harness.plan import QUESTION, Guarantee, Identity, Pack, Planting, Probe, Scenario, Schedule, Script

APPENDS = 20
"""Of one client: enough that some are sent after the model was asked, where each is answered in a few milliseconds."""


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """One turn is struck; beside it two other clients of the same person append to that session, and two to another.

    Before and after it everybody looks, and both sessions and another tenant have healthy turns.
    """
    script = Script(mint, rng)
    for number in range(size):
        hot, cold = script.pair(Level.SESSION, number)
        _, other = script.pair(Level.TENANT, number)
        everybody = (hot, cold, other)
        script.phase(script.opening(*everybody))
        for scope in everybody:
            script.phase(script.writes(scope))
        script.phase(_looks(script, hot))
        asked = replace(script.probe("run_turn", hot, text=QUESTION), tagged=True, faulted=True)
        script.phase(asked, *(_appends(script, scope, client) for scope in (hot, cold) for client in (1, 2)))
        script.phase(_looks(script, hot))
        for scope in everybody:
            script.phase(replace(script.probe("run_turn", scope, text=QUESTION), tagged=True))
            script.phase(script.probe("list_turns", scope))
    return script.schedule()


def _looks(script: Script, scope: Scope) -> list[Probe]:
    return [
        script.probe("list_memories", scope),
        script.probe("list_facts", scope),
        script.view("side_effects", scope),
    ]


def _appends(script: Script, scope: Scope, client: int) -> list[Probe]:
    name = f"{Identity.of(scope)}/{scope.session}#{client}"
    return [script.plant("append_turn", scope, client=name) for _ in range(APPENDS)]


SCENARIO = Scenario(
    id="stalled_model",
    hazard=__doc__,
    exercises=frozenset({Guarantee.RESILIENCE}),
    needs=frozenset({"run_turn", "append_turn"}),
    plan=plan,
    pack=Pack.STANDARD,
    faults=("timeout",),
)
