"""A session must end at its absolute end: not later for having been used, and not earlier for having been idle."""

import random

from partywall.canaries import Scope
from partywall.harness.plan import Guarantee, Pack, Planting, Probe, Promised, Scenario, Schedule, Script


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """One session idles and goes on; then three are opened together: one rests, one is read near its end, one is
    written to. The clock is moved past their end, and each is written to before anybody looks at it."""
    script = Script(mint, rng)
    for number in range(size):
        tail = f"-{number}" if number else ""
        idle, resting, read, written, fresh = (mint.scope("acme", "ann", f"s{n}{tail}", "k1") for n in range(1, 6))
        script.phase(script.opening(idle))
        script.phase(script.plant("append_turn", idle), script.plant("run_turn", idle))
        script.phase(_looks(script, idle))
        script.phase(script.later(idle, Promised("idle_after", plus=1)))
        script.phase(_looks(script, idle))
        script.phase(script.plant("append_turn", idle), script.plant("run_turn", idle), *_looks(script, idle))
        for scope in (resting, read, written):
            script.phase(script.opening(scope))
            script.phase(script.plant("append_turn", scope), script.plant("run_turn", scope))
        script.phase(_looks(script, read))
        script.phase(script.later(read, Promised("lifetime", times=0.5)))
        script.phase(script.plant("append_turn", written), script.plant("run_turn", written))
        script.phase(script.later(read, Promised("lifetime", times=0.4)))
        script.phase(script.plant("append_turn", written), script.plant("run_turn", written))
        script.phase(_looks(script, read))
        script.phase(script.later(read, Promised("lifetime", times=0.1, plus=1)))
        for scope in (resting, read, written):
            script.phase(script.plant("append_turn", scope), script.plant("run_turn", scope))
            script.phase(_looks(script, scope))
        script.phase(script.opening(fresh))
        script.phase(script.plant("append_turn", fresh), script.plant("run_turn", fresh), *_looks(script, fresh))
    return script.schedule()


def _looks(script: Script, scope: Scope) -> list[Probe]:
    return [script.probe("session_info", scope), script.probe("list_turns", scope), script.probe("context", scope)]


SCENARIO = Scenario(
    id="session_end",
    hazard=__doc__,
    exercises=frozenset({Guarantee.LIFECYCLE}),
    needs=frozenset({"append_turn | run_turn", "advance_clock", "promises.lifetime"}),
    plan=plan,
    pack=Pack.STANDARD,
)
