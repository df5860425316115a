"""Of two reports made before and after a rule changed, only facts that were superseded explain both."""

import random

from partywall.canaries import Level, Scope
from partywall.harness.plan import Guarantee, Pack, Planting, Probe, Scenario, Schedule, Script, ValueOf

RULE = "region_rule"
ROUNDING = "rounding_rule"
HALF_UP = "round half up, at the end"


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Each of two tenants makes a report, changes the rule, makes another; then asks what held at both instants, and
    the other's too. A second rule is asserted twice alike."""
    script = Script(mint, rng)
    for number in range(size):
        one, other = script.pair(Level.TENANT, number)
        instants = {scope: _reports(script, scope) for scope in (one, other)}
        for scope in (one, other):
            stranger = other if scope is one else one
            script.phase(_explained(script, scope, instants[scope]))
            script.phase(_as_of(script, scope, instants[stranger]))
    return script.schedule()


def _reports(script: Script, scope: Scope) -> list[Probe]:
    """The looks that tell since when each version of the rule holds."""
    told = []
    script.phase(script.opening(scope))
    for name in ("report-1.md", "report-2.md"):
        script.phase(script.plant("put_fact", scope, layer="task", key=RULE))
        script.phase(script.probe("put_fact", scope, key=ROUNDING, value=HALF_UP, layer="task"))
        look = script.probe("get_fact", scope, key=RULE)
        told.append(look)
        script.phase(look, script.plant("put_artifact", scope, name=name))
        script.phase(script.later(scope, 2))
    return told


def _explained(script: Script, scope: Scope, told: list[Probe]) -> list[Probe]:
    return [
        *_as_of(script, scope, told),
        script.probe("list_facts", scope, include_superseded=True),
        script.probe("list_facts", scope),
        script.probe("get_fact", scope, key=RULE),
        script.probe("get_artifact", scope, name="report-1.md"),
        script.probe("get_artifact", scope, name="report-2.md"),
    ]


def _as_of(script: Script, scope: Scope, told: list[Probe]) -> list[Probe]:
    """What held at the instant since when each version holds: that instant belongs to the version, and to no other."""
    return [
        probe
        for look in told
        for instant in (ValueOf(look.id, field="valid_from"),)
        for probe in (
            script.probe("get_fact", scope, key=RULE, at=instant),
            script.probe("list_facts", scope, at=instant),
        )
    ]


SCENARIO = Scenario(
    id="two_reports",
    hazard=__doc__,
    exercises=frozenset({Guarantee.SUPERSESSION, Guarantee.ISOLATION}),
    needs=frozenset({"put_fact", "list_facts"}),
    plan=plan,
    pack=Pack.STANDARD,
)
