"""The answer to a stranger must not tell whether another owner's thing exists."""

import random

from partywall.canaries import Level, Scope
from partywall.harness.plan import (
    ANY_OBSERVATION,
    ANY_WRITE,
    ARTIFACT,
    Guarantee,
    Identity,
    Planting,
    Probe,
    Scenario,
    Schedule,
    Script,
    ValueOf,
)


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """A stranger asks for what is the owner's and what never was: by id in its own scope, by name in the owner's."""
    script = Script(mint, rng)
    for number in range(size):
        for offset, level in enumerate((Level.TENANT, Level.USER)):
            owner, stranger = script.pair(level, 2 * number + offset)
            for scope in (owner, stranger):
                script.phase(script.opening(scope))
                script.phase(script.writes(scope))
            memory = script.plant("add_memory", owner)
            script.phase(memory)
            script.phase(script.reads(owner))
            script.phase(
                script.twins(
                    script.probe("get_memory", stranger, memory_id=ValueOf(memory.id, altered=True)),
                    script.probe("get_memory", stranger, memory_id=ValueOf(memory.id)),
                )
            )
            never = _never(owner)
            for nobody, somebody in zip(
                _by_name(script, never, stranger), _by_name(script, owner, stranger), strict=True
            ):
                script.phase(script.twins(nobody, somebody))
            script.phase(script.reads(stranger))
    return script.schedule()


def _never(owner: Scope) -> Scope:
    """A scope of the owner's tenant and user in which nothing ever was."""
    return Scope(owner.tenant, owner.user, "s-never", "k-never")


def _by_name(script: Script, scope: Scope, stranger: Scope) -> list[Probe]:
    caller = Identity.of(stranger)
    return [
        script.probe("list_turns", scope, caller),
        script.probe("session_info", scope, caller),
        script.probe("get_artifact", scope, caller, name=ARTIFACT),
    ]


SCENARIO = Scenario(
    id="existence_signals",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION, "get_memory | authenticates"}),
    plan=plan,
)
