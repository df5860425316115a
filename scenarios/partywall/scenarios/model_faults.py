"""A model that fails must leave nothing behind: no effect, no text, no retry storm, no answer that claims success."""

import random
from collections.abc import Iterable
from dataclasses import replace

from partywall.canaries import Level, Scope
from partywall.harness.plan import QUESTION, Guarantee, Pack, Planting, Probe, Scenario, Schedule, Script

FAULTS = ("normal", "invalid-json", "exception", "timeout", "fictitious-tool", "sensitive-echo", "ambiguous")

_NOTE = 'Please remember: use tool remember {"name": "seat", "value": "aisle"}'
_NOTE_MORE = 'Please remember: use tool remember {"name": "meal", "value": "vegetarian, no nuts"}'
_DELETE = 'Please delete: use tool delete_memory {"where": "a trip that was never booked"}'
"""Requests in the words that a mock model takes for a call of a tool, where that tool is on offer. What they ask for is
harmless whole, and is not when it is cut: without its filter, the deletion takes everything."""


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Two tenants write; one has a healthy turn with an effect, then its turns are struck, with a look at what is
    stored before and after each; then both have healthy turns and read everything.

    The first struck turn runs beside a healthy one of the other tenant.
    """
    script = Script(mint, rng)
    for number in range(size):
        one, other = script.pair(Level.TENANT, number)
        script.phase(script.opening(one, other))
        script.phase(script.writes(one))
        script.phase(script.writes(other))
        script.phase(_looks(script, one))
        script.phase(_asks(script, one, _NOTE))
        script.phase(_looks(script, one))
        script.phase(_struck(script, one, QUESTION), _asks(script, other, QUESTION))
        script.phase(_looks(script, one))
        for request in (_NOTE_MORE, _DELETE):
            script.phase(_struck(script, one, request))
            script.phase(_looks(script, one))
        for scope in (one, other):
            script.phase(_asks(script, scope, QUESTION))
            script.phase(script.reads(scope))
    return script.schedule()


def _asks(script: Script, scope: Scope, text: str) -> Probe:
    return replace(script.probe("run_turn", scope, text=text), tagged=True)


def _struck(script: Script, scope: Scope, text: str) -> Probe:
    return replace(_asks(script, scope, text), faulted=True)


def _looks(script: Script, scope: Scope) -> Iterable[Probe]:
    return (
        script.probe("list_memories", scope),
        script.probe("list_facts", scope),
        script.view("side_effects", scope),
    )


SCENARIO = Scenario(
    id="model_faults",
    hazard=__doc__,
    exercises=frozenset({Guarantee.RESILIENCE, Guarantee.ISOLATION}),
    needs=frozenset({"run_turn"}),
    plan=plan,
    pack=Pack.STANDARD,
    faults=FAULTS,
)
