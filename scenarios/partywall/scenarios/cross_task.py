"""What was said for one task must not surface in another task of the same session."""

from partywall.canaries import Level
from partywall.harness.plan import ANY_OBSERVATION, ANY_WRITE, Guarantee, Scenario, crossing

SCENARIO = Scenario(
    id="cross_task",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    plan=crossing(Level.TASK),
    direction=Level.TASK,
)
