"""A purge must leave nothing of its owner anywhere, and take nothing of a neighbour."""

import random

from partywall.canaries import Level
from partywall.harness.plan import ANY_WRITE, Guarantee, Pack, Planting, Scenario, Schedule, Script


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Neighbours of every kind work; one session is purged, then its user; everything at rest is looked at between."""
    script = Script(mint, rng)
    for number in range(size):
        owner, other_tenant = script.pair(Level.TENANT, number)
        _, other_user = script.pair(Level.USER, number)
        _, other_session = script.pair(Level.SESSION, number)
        everybody = (owner, other_tenant, other_user, other_session)
        for scope in everybody:
            script.phase(script.opening(scope))
            script.phase(script.writes(scope))
        for scope in everybody:
            script.phase(script.reads(scope))
        script.phase(script.view("stored_bytes", owner))
        for level in ("session", "user"):
            script.phase(script.probe("purge", owner, level=level))
            script.phase(script.view("stored_bytes", owner))
            for scope in everybody:
                script.phase(script.reads(scope))
        script.phase(script.view("stored_bytes", owner))
    return script.schedule()


SCENARIO = Scenario(
    id="purge_residue",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ERASURE}),
    needs=frozenset({ANY_WRITE, "purge", "stored_bytes"}),
    plan=plan,
    pack=Pack.STANDARD,
    destructive=True,
)
