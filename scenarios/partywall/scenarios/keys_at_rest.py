"""A key that names no owner is shared by whoever makes it next, and no purge finds it."""

import random

from partywall.canaries import Level
from partywall.harness.plan import ANY_WRITE, Guarantee, Planting, Scenario, Schedule, Script


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """An operator lists all keys before and after two tenants write, ask and are answered."""
    script = Script(mint, rng)
    for number in range(size):
        one, other = script.pair(Level.TENANT, number)
        script.phase(script.view("stored_keys", one))
        script.phase(script.opening(one, other))
        for scope in (one, other):
            script.phase(script.writes(scope))
            script.phase(script.reads(scope))
        script.phase(script.view("stored_keys", one))
    return script.schedule()


SCENARIO = Scenario(
    id="keys_at_rest",
    hazard=__doc__,
    exercises=frozenset({Guarantee.KEYING}),
    needs=frozenset({ANY_WRITE, "stored_keys"}),
    plan=plan,
)
