"""A purged tenant must be gone everywhere, stay gone though its turns were in flight, and begin anew with nothing."""

import random
from collections.abc import Iterator
from dataclasses import replace

from partywall.canaries import Level, Scope
from partywall.harness.plan import (
    ANY_WRITE,
    QUESTION,
    Guarantee,
    Identity,
    Pack,
    Planting,
    Probe,
    Scenario,
    Schedule,
    Script,
)

IN_FLIGHT = 6


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Beside a tenant stand another and one whose name goes on where its own ends. It is purged while its agent is at
    work, looked for, and opened again."""
    script = Script(mint, rng)
    for number in range(size):
        owner, other = script.pair(Level.TENANT, number)
        longer = Scope(f"{owner.tenant}0", *owner.path[1:])
        for scope in (owner, other, longer):
            script.phase(script.opening(scope))
            script.phase(script.writes(scope))
            script.phase(script.reads(scope))
        flights = [Scope(*owner.path[:2], f"{owner.session}-{n}", owner.task) for n in range(IN_FLIGHT)]
        script.phase(script.opening(*flights))
        script.phase(script.probe("run_turn", scope, text=QUESTION) for scope in flights)
        script.phase(script.view("stored_bytes", owner))
        admin = Identity(owner.tenant, owner.user, "admin")
        script.phase(
            _turns(script, flights),
            script.probe("purge", owner, admin, client=f"{admin}#purge", level="tenant"),
        )
        script.phase(script.view("stored_bytes", owner))
        for scope in (owner, other, longer):
            script.phase(script.reads(scope))
        script.phase(script.view("stored_bytes", owner))
        script.phase(script.opening(owner))
        script.phase(script.writes(owner))
        for scope in (owner, other, longer):
            script.phase(script.reads(scope))
        script.phase(script.view("stored_bytes", owner))
    return script.schedule()


def _turns(script: Script, flights: list[Scope]) -> Iterator[Probe]:
    """Turns whose replies tell what the user has: written after the purge, they bring it back. Each is in a session of
    its own, so that no prompt holds another's question."""
    for scope in flights:
        asked = script.probe("run_turn", scope, client=f"{Identity.of(scope)}#{scope.session}", text=QUESTION)
        yield replace(asked, tagged=True)


SCENARIO = Scenario(
    id="purge_tenant",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ERASURE}),
    needs=frozenset({ANY_WRITE, "purge", "stored_bytes"}),
    plan=plan,
    pack=Pack.STANDARD,
    destructive=True,
)
