"""What one user writes into another's session must not reach that user's next prompt."""

import random

from partywall.canaries import Level
from partywall.harness.plan import AUTHENTICATES, Guarantee, Identity, Planting, Scenario, Schedule, Script


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """A stranger with its own credentials addresses the owner's scope with every write; then the owner looks."""
    script = Script(mint, rng)
    for number in range(size):
        for offset, level in enumerate((Level.TENANT, Level.USER)):
            owner, stranger = script.pair(level, 2 * number + offset)
            intruder = Identity.of(stranger)
            script.phase(script.opening(owner, stranger))
            for scope in (owner, stranger):
                script.phase(script.writes(scope))
                script.phase(script.reads(scope))
            script.phase(script.intrusions(stranger, owner, intruder))
            for scope in (owner, stranger):
                script.phase(script.reads(scope))
    return script.schedule()


SCENARIO = Scenario(
    id="cross_user_write",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({"append_turn | run_turn", AUTHENTICATES}),
    plan=plan,
)
