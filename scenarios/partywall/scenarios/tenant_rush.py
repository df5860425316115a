"""One user who sends too much must be refused, and nobody else for it: no other user of the tenant, no other tenant."""

import random
from collections.abc import Iterator
from dataclasses import replace

from partywall.canaries import Level, Scope
from partywall.harness.plan import Guarantee, Pack, Planting, Probe, Promised, Scenario, Schedule, Script

CLIENTS = 8
SHARE = 0.5
"""Of a user's burst, what each client sends: eight of the rusher's together four times as much, since some of it is
refilled while they send; a neighbour's one client stays well below."""


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Everybody asks for something cheap, from one barrier, and the neighbours once more after the rush."""
    script = Script(mint, rng)
    for number in range(size):
        rusher, other_tenant = script.pair(Level.TENANT, number)
        _, other_user = script.pair(Level.USER, number)
        everybody = (rusher, other_user, other_tenant)
        script.phase(script.opening(*everybody))
        script.phase(script.plant("append_turn", scope) for scope in everybody)
        burst = [probe for client in range(CLIENTS) for probe in _calls(script, rusher, f"#{client}")]
        script.phase(burst, _calls(script, other_user), _calls(script, other_tenant))
        for scope in (other_user, other_tenant):
            script.phase(script.probe("list_sessions", scope), script.probe("list_turns", scope))
    return script.schedule()


def _calls(script: Script, scope: Scope, client: str = "") -> Iterator[Probe]:
    often = Promised("rate_limit.user", times=SHARE)
    name = f"{scope.tenant}/{scope.user}{client}"
    yield replace(script.probe("list_sessions", scope, client=name), repeat=often)
    yield replace(script.probe("session_info", scope, client=name), repeat=often, instead_of="list_sessions")


SCENARIO = Scenario(
    id="tenant_rush",
    hazard=__doc__,
    exercises=frozenset({Guarantee.NONINTERFERENCE}),
    needs=frozenset({"list_sessions | session_info", "promises.rate_limit.user"}),
    plan=plan,
    pack=Pack.STANDARD,
)
