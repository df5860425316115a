"""A write by another owner under the same ids must not take over what the first owner wrote there."""

import random

from partywall.canaries import Level
from partywall.harness.plan import (
    ANY_OBSERVATION,
    ANY_WRITE,
    Guarantee,
    Planting,
    Scenario,
    Schedule,
    Script,
)


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """The owner writes and looks; a stranger writes under the same ids; the owner looks again, then the stranger."""
    script = Script(mint, rng)
    for number in range(size):
        for offset, level in enumerate((Level.TENANT, Level.USER)):
            owner, stranger = script.pair(level, 2 * number + offset)
            script.phase(script.opening(owner))
            script.phase(script.writes(owner))
            script.phase(script.reads(owner))
            script.phase(script.opening(stranger))
            script.phase(script.writes(stranger))
            script.phase(script.deletion(owner, stranger))
            script.phase(script.reads(owner))
            script.phase(script.reads(stranger))
    return script.schedule()


SCENARIO = Scenario(
    id="takeover",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    plan=plan,
)
