"""What one tenant stored must not surface in another tenant, though users, sessions and tasks bear the same names."""

from partywall.canaries import Level
from partywall.harness.plan import ANY_OBSERVATION, ANY_WRITE, Guarantee, Scenario, crossing

SCENARIO = Scenario(
    id="cross_tenant",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    plan=crossing(Level.TENANT),
    direction=Level.TENANT,
)
