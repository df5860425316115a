"""A session that is written to without end must stay within its bound, and its early turns must not go unaccounted."""

import random

from partywall.canaries import Level, Scope
from partywall.harness.plan import Guarantee, Pack, Planting, Probe, Promised, Scenario, Schedule, Script

EARLY = 4


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Two tasks plant turns first; then one session is filled beyond its bound by both in turn; then both look."""
    script = Script(mint, rng)
    for number in range(size):
        one, other = script.pair(Level.TASK, number)
        script.phase(script.opening(one))
        for scope in (one, other):
            script.phase(script.plant("append_turn", scope) for _ in range(EARLY))
            script.phase(
                script.plant("run_turn", scope),
                script.plant("put_fact", scope, layer="task", key="open_order_task"),
            )
            script.phase(_looks(script, scope))
        for scope, share in ((one, 0.4), (other, 0.4), (one, 0.3), (other, 0.2)):
            script.phase(script.filler(scope, Promised("max_turns", times=share)))
            script.phase(script.probe("session_info", scope), script.probe("list_turns", scope))
        for scope in (one, other):
            script.phase(script.plant("append_turn", scope), script.plant("run_turn", scope))
        for scope in (one, other):
            script.phase(_looks(script, scope))
    return script.schedule()


def _looks(script: Script, scope: Scope) -> list[Probe]:
    return [
        script.probe("session_info", scope),
        script.probe("list_turns", scope),
        script.probe("list_facts", scope),
        script.probe("context", scope),
    ]


SCENARIO = Scenario(
    id="session_full",
    hazard=__doc__,
    exercises=frozenset({Guarantee.LIFECYCLE, Guarantee.ISOLATION}),
    needs=frozenset({"append_turn | run_turn", "list_turns | session_info", "promises.max_turns"}),
    plan=plan,
    pack=Pack.STANDARD,
)
