"""Another tenant's order number must not come out of a cache that knows a question by its words alone."""

import random

from partywall.canaries import Level
from partywall.harness.plan import Guarantee, Planting, Scenario, Schedule, Script

ORDER = "What is my order number?"
AGAIN = "Which order number was it again?"
KNOWN = "My order number, as asked for:"


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Two tenants have an order each and ask the same, word for word, one after the other; another question is put by
    the second first, since who asks first may fill what is shared with nothing."""
    script = Script(mint, rng)
    for number in range(size):
        one, other = script.pair(Level.TENANT, number)
        script.phase(script.opening(one, other))
        for scope in (one, other):
            script.phase(
                script.plant("add_memory", scope, words=KNOWN),
                script.plant("put_fact", scope, layer="user", key="order_number"),
                script.plant("append_turn", scope, words=KNOWN),
                script.plant("run_turn", scope, words=KNOWN),
            )
        for question, askers in ((ORDER, (one, other, one)), (AGAIN, (other, one, other))):
            for scope in askers:
                script.phase(
                    script.probe("search_memory", scope, query=question),
                    script.probe("cached_answer", scope, query=question),
                )
        for scope in (one, other):
            script.phase(
                script.probe("context", scope, query=ORDER),
                script.probe("run_turn", scope, text=ORDER),
            )
    return script.schedule()


SCENARIO = Scenario(
    id="foreign_order_number",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({"add_memory | put_fact", "search_memory | cached_answer | run_turn"}),
    plan=plan,
    direction=Level.TENANT,
)
