"""Crossing: how two scopes that part at one level are made to show what passes between them."""

from __future__ import annotations

import random

from partywall.canaries import Level, Scope

from .identity import Identity
from .planting import Planting
from .probe import Probe
from .scenario import Plan
from .schedule import Schedule
from .script import Script

OWNER_FIRST = "Which booking reference belongs to the open order?"
NEWCOMER = "Is there an open order at all?"
FOREIGN_FIRST = "What reference did the customer give for the trip?"


def crossing(level: Level) -> Plan:
    """The plan of a direction: `size` pairs of scopes that part at `level` only, over every channel.

    One question is first asked by the owner, another first by the stranger: a cache that the stranger filled
    with "nothing" would otherwise hide that it is shared. Each is then asked by the other and by the first again.
    """

    def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
        script = Script(mint, rng)
        for number in range(size):
            one, other = script.pair(level, number)
            if rng.random() < 0.5:  # which of the two is the owner must not matter
                one, other = other, one
            _cross(script, one, other)
        return script.schedule()

    return plan


def _cross(script: Script, one: Scope, other: Scope) -> None:
    script.phase(script.opening(one, other))
    script.phase(before(script, one), before(script, other))
    # one after the other: a prompt that holds what was just sown bears no tag, so it can be attributed only while
    # its probe is the sole one in flight
    script.phase(script.writes(one))
    # a newcomer that has nothing yet looks at everything: "mine is missing, so take somebody's" shows only to it
    script.phase(script.reads(other, question=NEWCOMER))
    script.phase(script.writes(other))
    script.phase(script.reads(one, question=OWNER_FIRST))
    script.phase(script.reads(other, question=OWNER_FIRST))
    script.phase(script.reads(other, question=FOREIGN_FIRST))
    script.phase(script.reads(one, question=FOREIGN_FIRST))
    script.phase(script.by_id(one, other), script.by_id(other, one))
    # both at once and again: an identity kept anywhere but in the request shows only when two requests overlap
    for _ in range(2):
        script.phase(script.overlapping(one), script.overlapping(other))
    if one.path[:2] != other.path[:2]:
        script.phase(script.reads(one, caller=Identity.of(other)))
        script.phase(script.reads(other, caller=Identity.of(one)))
        script.phase(script.reads(one))


def before(script: Script, scope: Scope) -> list[Probe]:
    """Looks at a scope that nobody has written to: what stands there is left over from elsewhere."""
    return [
        script.probe("list_turns", scope),
        script.probe("list_memories", scope),
        script.probe("list_facts", scope),
        script.probe("list_artifacts", scope),
    ]
