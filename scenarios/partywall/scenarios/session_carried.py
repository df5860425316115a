"""Who goes on in a new session must find the conclusions of the old one there, task by task, and nothing else of it."""

import random

from partywall.canaries import Level, Scope
from partywall.harness.plan import Guarantee, Pack, Planting, Probe, Scenario, Schedule, Script


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """A session with two tasks is gone on from by a new one, and a third is opened that goes on from none."""
    script = Script(mint, rng)
    for number in range(size):
        old, new = script.pair(Level.SESSION, number)
        beside = mint.scope(*old.path[:3], f"{old.task}-beside")
        apart = mint.scope(*old.path[:2], f"{old.session}-apart", old.task)
        script.phase(script.opening(old))
        for scope in (old, beside):
            script.phase(_writes(script, scope))
            script.phase(_looks(script, scope))
        script.phase(script.probe("create_session", new, carry_from=old.session))
        script.phase(script.opening(apart))
        for scope in (new, mint.scope(*new.path[:3], beside.task), apart):
            script.phase(_looks(script, scope))
            script.phase(_writes(script, scope, "later"))
            script.phase(_looks(script, scope))
    return script.schedule()


def _writes(script: Script, scope: Scope, when: str = "then") -> list[Probe]:
    """Keys of their own for what comes later: a fact that is carried must not be replaced before it was looked at."""
    return [
        script.plant("append_turn", scope),
        script.plant("run_turn", scope),
        script.plant("put_fact", scope, layer="task", key=f"conclusion_{when}_{scope.task}"),
        script.plant("put_fact", scope, layer="session", key=f"remark_{when}_{scope.task}"),
        script.plant("put_artifact", scope, name="report.md"),
    ]


def _looks(script: Script, scope: Scope) -> list[Probe]:
    return [
        script.probe("list_facts", scope),
        script.probe("context", scope),
        script.probe("list_turns", scope),
        script.probe("list_artifacts", scope),
        script.probe("get_artifact", scope, name="report.md"),
        script.probe("run_turn", scope, text="Where were we?"),
    ]


SCENARIO = Scenario(
    id="session_carried",
    hazard=__doc__,
    exercises=frozenset({Guarantee.LIFECYCLE, Guarantee.ISOLATION}),
    needs=frozenset({"create_session", "put_fact", "list_facts", "promises.lifetime"}),
    plan=plan,
    pack=Pack.STANDARD,
)
