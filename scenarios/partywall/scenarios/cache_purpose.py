"""What was found for one question, or made for one use, must not be given for another one."""

import random

from partywall.canaries import Scope
from partywall.harness.plan import Guarantee, Pack, Planting, Probe, Scenario, Schedule, Script

MATCHING = 12
PREPARED, COUNTED = "reference booking", "reference"
"""Two searches for the same memories: one is asked after a context was assembled for the same words, one for the best
alone and then for all."""
PROJECTS = ("orangery", "lighthouse")
ABOUT = ("Is anything due for the gazebo?", "Is anything due for the boathouse?")


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """A person has a dozen memories that match, and some of two projects that share no word. Three rounds of questions
    with a write in between: whatever rested on earlier answers must be made anew then. In the second round each
    question follows another that could be taken for it; in the others it comes first, so that both its right answers
    frame the wrong one."""
    script = Script(mint, rng)
    for number in range(size):
        scope = mint.scope("acme", f"ann-{number}" if number else "ann", "s1", "k1")
        one, other = PROJECTS
        script.phase(script.opening(scope))
        script.phase(script.plant("add_memory", scope) for _ in range(MATCHING))
        script.phase(script.plant("add_memory", scope, words=word) for word in PROJECTS for _ in range(3))
        script.phase(_search(script, scope, one), _search(script, scope, COUNTED))
        script.phase(script.plant("add_memory", scope, words="Unrelated:"))
        script.phase(_search(script, scope, other), _search(script, scope, one))
        script.phase(_search(script, scope, COUNTED, limit=1), _search(script, scope, COUNTED))
        script.phase(script.probe("context", scope, query=PREPARED), _search(script, scope, PREPARED))
        script.phase(script.probe("cached_answer", scope, query=question) for question in ABOUT)
        script.phase(script.plant("add_memory", scope, words="Unrelated:"))
        script.phase(_search(script, scope, query) for query in (one, COUNTED, PREPARED))
        script.phase(script.plant("append_turn", scope), script.plant("run_turn", scope))
        script.phase(script.probe("context", scope), script.probe("list_memories", scope))
    return script.schedule()


def _search(script: Script, scope: Scope, query: str, limit: int = 20) -> Probe:
    return script.probe("search_memory", scope, query=query, limit=limit)


SCENARIO = Scenario(
    id="cache_purpose",
    hazard=__doc__,
    exercises=frozenset({Guarantee.KEYING}),
    needs=frozenset({"add_memory", "search_memory | cached_answer"}),
    plan=plan,
    pack=Pack.STANDARD,
)
