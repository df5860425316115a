"""A note made in one session must not surface in the user's next one."""

from partywall.canaries import Level
from partywall.harness.plan import ANY_OBSERVATION, ANY_WRITE, Guarantee, Scenario, crossing

SCENARIO = Scenario(
    id="cross_session",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    plan=crossing(Level.SESSION),
    direction=Level.SESSION,
)
