"""Ids that look alike, begin alike or hold a delimiter must still name different owners."""

import random

from partywall.canaries import Scope
from partywall.harness.plan import (
    ANY_OBSERVATION,
    ANY_WRITE,
    Guarantee,
    Pack,
    Planting,
    Probe,
    Scenario,
    Schedule,
    Script,
)

PAIRS = (
    (("t1", "u"), ("t10", "u")),
    (("t", "u1"), ("t", "u10")),
    (("a:b", "c"), ("a", "b:c")),
    (("a/b", "c"), ("a", "b/c")),
    (("a|b", "c"), ("a", "b|c")),
    (("a.b", "c"), ("a", "b.c")),
    (("a-b", "c"), ("a", "b-c")),
    (("a_b", "c"), ("a", "b_c")),
    (("a__b", "c"), ("a", "b__c")),
    (("a#b", "c"), ("a", "b#c")),
    (("a b", "c"), ("a", "b c")),
    (("ab", "c"), ("a", "bc")),
    (("Case", "u"), ("case", "u")),
    (("t", "Ann"), ("t", "ann")),
    (("t", "caf\u00e9"), ("t", "cafe\u0301")),
    (("\uff54\uff41", "u"), ("ta", "u")),
    (("t", "u "), ("t", "u")),
    (("t", "null"), ("t", "None")),
    (("t", "default"), ("t", "undefined")),
    (("t", "1"), ("t", "01")),
    (("t", "x" * 240 + "1"), ("t", "x" * 240 + "2")),
    (("t", "../u"), ("t", "u")),
)
"""(tenant, user) pairs that a lossy key would make one: prefixes, moved delimiters, case, composition, width, trailing
blank, words for nothing, leading zero, equal heads, path parts."""


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Both of a pair write the same things under the same names; then both look, the second first."""
    script = Script(mint, rng)
    for one, other in PAIRS:
        scopes = [mint.scope(*one, "s1", "k1"), mint.scope(*other, "s1", "k1")]
        for scope in scopes:
            script.phase(script.opening(scope))
            script.phase(lean_writes(script, scope))
        for scope in reversed(scopes):
            script.phase(lean_reads(script, scope))
    return script.schedule()


def lean_writes(script: Script, scope: Scope) -> list[Probe]:
    """One write of each kind of store."""
    return [
        script.plant("append_turn", scope),
        script.plant("add_memory", scope),
        script.plant("put_fact", scope, layer="user", key="open_order"),
        script.plant("put_artifact", scope, name="report.md"),
    ]


def lean_reads(script: Script, scope: Scope) -> list[Probe]:
    """One look into each kind of store."""
    return [
        script.probe("list_turns", scope),
        script.probe("list_memories", scope),
        script.probe("list_facts", scope),
        script.probe("get_artifact", scope, name="report.md"),
        script.probe("context", scope, query="booking reference"),
    ]


SCENARIO = Scenario(
    id="awkward_ids",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({ANY_WRITE, ANY_OBSERVATION}),
    plan=plan,
    pack=Pack.STANDARD,
)
