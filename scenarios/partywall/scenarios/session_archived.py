"""Of an archived session the text must be gone, and that it was there must still be told."""

import random

from partywall.canaries import Scope
from partywall.harness.plan import Guarantee, Pack, Planting, Probe, Promised, Scenario, Schedule, Script


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Two sessions come to their end; one is archived by a call, the other by time. A session that lives is beside."""
    script = Script(mint, rng)
    for number in range(size):
        tail = f"-{number}" if number else ""
        called, waiting, living = (mint.scope("acme", "ann", f"s{n}{tail}", "k1") for n in range(1, 4))
        for scope in (called, waiting):
            script.phase(script.opening(scope))
            script.phase(
                script.plant("append_turn", scope),
                script.plant("run_turn", scope),
                script.plant("put_fact", scope, layer="task", key="open_order_task"),
            )
        script.phase(script.plant("add_memory", called))
        for scope in (called, waiting):
            script.phase(_looks(script, scope))
        script.phase(script.view("stored_bytes", called))
        script.phase(script.later(called, Promised("lifetime", plus=1)))
        script.phase(script.probe("archive_session", called))
        script.phase(_looks(script, called))
        script.phase(script.view("stored_bytes", called))
        script.phase(script.later(waiting, Promised("archive_after", plus=1)))
        for scope in (called, waiting):
            script.phase(_looks(script, scope))
        script.phase(script.opening(living))
        script.phase(
            script.plant("append_turn", living),
            script.plant("put_fact", living, layer="task", key="open_order_task"),
            *_looks(script, living),
        )
        script.phase(script.view("stored_bytes", waiting))
    return script.schedule()


def _looks(script: Script, scope: Scope) -> list[Probe]:
    return [
        script.probe("session_info", scope),
        script.probe("list_turns", scope),
        script.probe("context", scope),
        script.probe("list_facts", scope),
        script.probe("list_memories", scope),
    ]


SCENARIO = Scenario(
    id="session_archived",
    hazard=__doc__,
    exercises=frozenset({Guarantee.LIFECYCLE}),
    needs=frozenset({"append_turn | run_turn", "session_info", "archive_session | promises.archive_after"}),
    plan=plan,
    pack=Pack.STANDARD,
)
