"""What one user stored must not surface with another user of the tenant, whose sessions and tasks have equal names."""

from partywall.canaries import Level
from partywall.harness.plan import ANY_OBSERVATION, ANY_WRITE, Guarantee, Scenario, crossing

SCENARIO = Scenario(
    id="cross_user",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    plan=crossing(Level.USER),
    direction=Level.USER,
)
