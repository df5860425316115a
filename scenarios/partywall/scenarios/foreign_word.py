"""With one tenant's credentials, a search for a word that only another tenant has must come back empty."""

import random

from partywall.canaries import Level
from partywall.harness.plan import Guarantee, Planting, Scenario, Schedule, Script

_SYLLABLES = (
    "vel",
    "mor",
    "itz",
    "qua",
    "dru",
    "fen",
    "gol",
    "hix",
    "jub",
    "kra",
    "lop",
    "nuv",
    "pyx",
    "rou",
    "syl",
)


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Each side stores a made-up word beside its canary; each searches for the other's word, then for its own.

    The word is no canary: a query that held the canary would make any answer holding it the searcher's own input.
    """
    script = Script(mint, rng)
    for number in range(size):
        one, other = script.pair(Level.TENANT, number)
        words = {scope: "".join(rng.sample(_SYLLABLES, 4)) for scope in (one, other)}
        script.phase(script.opening(one, other))
        script.phase(script.plant("add_memory", scope, words=f"Project {words[scope]}:") for scope in (one, other))
        for query in (words[one], words[other], "", "%", "*"):
            for scope in (other, one):
                script.phase(
                    script.probe("search_memory", scope, query=query),
                    script.probe("context", scope, query=query),
                )
    return script.schedule()


SCENARIO = Scenario(
    id="foreign_word",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset({"add_memory", "search_memory"}),
    plan=plan,
    direction=Level.TENANT,
)
