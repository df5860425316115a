"""A "yes" that was meant for one job must not confirm another one of the same session."""

import random
from dataclasses import replace

from partywall.canaries import Level, Scope
from partywall.harness.plan import Guarantee, Planting, Probe, Scenario, Schedule, Script

YES = "yes"


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Two tasks of one session ask for a cancellation each; then one says yes, then the other; in a second session the
    other way round. The ledger of tools is read around every turn, so that what was done is known to be that turn's."""
    script = Script(mint, rng)
    for number in range(2 * size):
        one, other = script.pair(Level.TASK, number)
        script.phase(script.opening(one))
        script.phase(script.view("side_effects", one))
        for scope in (one, other):
            script.phase(_request(script, scope))
            script.phase(script.view("side_effects", scope))
        for scope in (other, one) if number % 2 else (one, other):
            script.phase(script.probe("run_turn", scope, text=YES))
            script.phase(script.view("side_effects", scope))
        for scope in (one, other):
            script.phase(script.probe("context", scope), script.probe("list_turns", scope))
    return script.schedule()


def _request(script: Script, scope: Scope) -> Probe:
    """In words that a mock model takes for a call of a tool, where that tool is on offer; it reads, and keeps nothing
    that another task might then be shown by right."""
    order = script.mint.canary(scope, "run_turn")
    text = f'Cancel order {order.text}? Look it up first: use tool look_up {{"words": "{order.text}"}}'
    return replace(script.probe("run_turn", scope, text=text), sows=(order,))


SCENARIO = Scenario(
    id="borrowed_yes",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({"run_turn"}),
    plan=plan,
    direction=Level.TASK,
)
