"""A log line must locate what happened without holding what was said or who said it."""

import random

from partywall.harness.plan import ANY_WRITE, Guarantee, Planting, Scenario, Schedule, Script


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """An operator reads the log before and after two people, with names that are found nowhere by chance, work."""
    script = Script(mint, rng)
    for number in range(size):
        people = [
            mint.scope("acme", f"{name}-{rng.randrange(16**8):08x}", f"s{number}", "k1") for name in ("ann", "bob")
        ]
        script.phase(script.view("read_log", people[0]))
        for scope in people:
            script.phase(script.opening(scope))
            script.phase(script.writes(scope))
            script.phase(script.reads(scope))
        script.phase(script.view("read_log", people[0]))
    return script.schedule()


SCENARIO = Scenario(
    id="log_lines",
    hazard=__doc__,
    exercises=frozenset({Guarantee.SECRECY}),
    needs=frozenset({ANY_WRITE, "read_log"}),
    plan=plan,
)
