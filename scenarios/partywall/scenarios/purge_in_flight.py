"""A reply that was being made while its tenant was purged must not be written once the purge is done."""

import random
from dataclasses import replace

from partywall.canaries import Level, Scope
from partywall.harness.plan import QUESTION, Guarantee, Identity, Pack, Planting, Probe, Scenario, Schedule, Script

IN_FLIGHT, LOOKS = 6, 10


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Turns ask what their user has, of a model that takes its time; the purge is over before they are answered.

    Each turn is in a session of its own, so that no prompt holds another's question. Whoever purges looks first, for as
    long as it takes the turns to reach their model: a turn that comes after the purge is none in flight.
    """
    script = Script(mint, rng)
    for number in range(size):
        owner, other = script.pair(Level.TENANT, number)
        for scope in (owner, other):
            script.phase(script.opening(scope))
            script.phase(script.writes(scope))
            script.phase(script.reads(scope))
        flights = [Scope(*owner.path[:2], f"{owner.session}-{n}", owner.task) for n in range(IN_FLIGHT)]
        script.phase(script.opening(*flights))
        script.phase(script.probe("run_turn", scope, text=QUESTION) for scope in flights)
        script.phase(script.view("stored_bytes", owner))
        admin = Identity(owner.tenant, owner.user, "admin")
        client = f"{admin}#purge"
        looks = [replace(script.view("stored_bytes", owner), client=client) for _ in range(LOOKS)]
        purge = script.probe("purge", owner, admin, client=client, level="tenant")
        script.phase(*(_late(script, scope) for scope in flights), *looks, purge)
        script.phase(script.view("stored_bytes", owner))
        for scope in (owner, other):
            script.phase(script.reads(scope))
    return script.schedule()


def _late(script: Script, scope: Scope) -> Probe:
    asked = script.probe("run_turn", scope, client=f"{Identity.of(scope)}#{scope.session}", text=QUESTION)
    return replace(asked, tagged=True, faulted=True)


SCENARIO = Scenario(
    id="purge_in_flight",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ERASURE}),
    needs=frozenset({"run_turn", "purge", "stored_bytes"}),
    plan=plan,
    pack=Pack.STANDARD,
    destructive=True,
    faults=("late",),
)
