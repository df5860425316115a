"""The unfiltered listing of a session does mix its tasks: that is what the task filter is for."""

import random

from partywall.canaries import Level
from partywall.harness.plan import Guarantee, Planting, Scenario, Schedule, Script


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Two tasks of one session take turns; the listing shows both, the assembled context only its own."""
    script = Script(mint, rng)
    for number in range(size):
        one, other = script.pair(Level.TASK, number)
        script.phase(script.opening(one))
        for scope in (one, other, one, other):
            script.phase(script.plant("append_turn", scope), script.plant("run_turn", scope))
        for scope in (one, other):
            script.phase(
                script.probe("list_turns", scope),
                script.probe("context", scope),
                script.probe("run_turn", scope, text="Where were we?"),
            )
    return script.schedule()


SCENARIO = Scenario(
    id="unfiltered_view",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({"append_turn | run_turn", "list_turns", "context | run_turn"}),
    plan=plan,
    direction=Level.TASK,
)
