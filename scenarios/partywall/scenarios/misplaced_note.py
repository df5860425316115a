"""A clarification that one job was given must not become the user's: it would decide every other job, unseen."""

import random

from partywall.canaries import Level, Scope
from partywall.harness.plan import FACT_KEY, QUESTION, Guarantee, Planting, Probe, Scenario, Schedule, Script

FOR_THIS_JOB = "For this report only, please go by the order address and not by the billing address."
TEMPLATE = "report_template"
TURNS = 12
"""Turns of the session that the one entry of the user layer is counted against."""


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """One task is told how to do its job; a rule of the user's own is kept beside it. Another task, another session
    and the user's lists are looked at; the counts of writes by layer stand around all of it; then the user deletes."""
    script = Script(mint, rng)
    for number in range(size):
        job, other_task = script.pair(Level.TASK, number)
        _, other_session = script.pair(Level.SESSION, number)
        script.phase(script.view("metrics", job))
        script.phase(script.opening(job, other_session))
        script.phase(script.plant("put_fact", job, layer="user", key=TEMPLATE))
        script.phase(_clarified(script, job))
        script.phase(_own(script, other_task))
        script.phase(_own(script, other_session))
        for scope in (other_task, other_session, job):
            script.phase(_looks(script, scope))
        script.phase(script.view("metrics", job))
        script.phase(script.probe("delete_fact", other_session, key=TEMPLATE))
        for scope in (job, other_session):
            script.phase(_looks(script, scope))
    return script.schedule()


def _clarified(script: Script, job: Scope) -> list[Probe]:
    return [
        script.plant("run_turn", job, words=FOR_THIS_JOB),
        *(script.plant("append_turn", job, words=FOR_THIS_JOB) for _ in range(TURNS)),
        script.plant("put_fact", job, layer="task", key=f"{FACT_KEY}_task"),
        script.plant("put_fact", job, layer="session", key=f"{FACT_KEY}_session"),
        script.plant("run_turn", job, words=FOR_THIS_JOB),
    ]


def _own(script: Script, scope: Scope) -> list[Probe]:
    """Something of each scope's own, by which it shows that it would see what is there."""
    return [
        script.plant("append_turn", scope),
        script.plant("put_fact", scope, layer="task", key=f"{FACT_KEY}_own"),
    ]


def _looks(script: Script, scope: Scope) -> list[Probe]:
    return [
        script.probe("list_facts", scope),
        script.probe("context", scope, query=QUESTION),
        script.probe("run_turn", scope, text=QUESTION),
    ]


SCENARIO = Scenario(
    id="misplaced_note",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION, Guarantee.CONSENT}),
    needs=frozenset({"append_turn | run_turn | put_fact", "list_facts", "put_fact"}),
    plan=plan,
)
