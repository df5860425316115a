"""A request that names another owner, or bears no good credential, must not be served as that owner."""

import random

from partywall.canaries import Level
from partywall.harness.plan import (
    ANY_OBSERVATION,
    AUTHENTICATES,
    Guarantee,
    Identity,
    Planting,
    Scenario,
    Schedule,
    Script,
)


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """A stranger asks in the owner's name; then somebody without a credential, and with an expired one, does."""
    script = Script(mint, rng)
    for number in range(size):
        for offset, level in enumerate((Level.TENANT, Level.USER)):
            owner, stranger = script.pair(level, 2 * number + offset)
            for scope in (owner, stranger):
                script.phase(script.opening(scope))
                script.phase(script.writes(scope))
                script.phase(script.reads(scope))
            script.phase(script.reads(owner, caller=Identity.of(stranger)))
            script.phase(script.with_credential("none", [*script.writes(owner), *script.reads(owner)]))
            script.phase(script.with_credential("expired", [*script.writes(owner), *script.reads(owner)]))
            script.phase(script.reads(owner))
    return script.schedule()


SCENARIO = Scenario(
    id="claimed_identity",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({"append_turn | run_turn", ANY_OBSERVATION, AUTHENTICATES}),
    plan=plan,
)
