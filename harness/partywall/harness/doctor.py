"""Doctor: what a target is like before anything is concluded about it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from .judge.exposure import Crossing, exposure_of, offered_channels
from .observe.history import History
from .plan.guarantee import Guarantee
from .plan.operation import OBSERVATIONS, OPERATIONS, WRITES
from .plan.planting import Planting
from .plan.scenario import Scenario
from .plan.schedule import Schedule
from .plan.script import Script
from .run import RunPlan, RunResult, verify

_NEVER = "never-created"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One line of the doctor's: what was asked, whether it was right, what was seen."""

    question: str
    passed: bool
    seen: str


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """One owner writes by every write and reads by every observation; a session that never was is read too."""
    script = Script(mint, rng)
    owner = mint.scope("acme", "ann", "s1", "k1")
    nobody = mint.scope("acme", "nobody", _NEVER, "k9")
    script.phase(script.opening(owner))
    script.phase(script.writes(owner))
    script.phase(script.reads(owner))
    script.phase(
        script.probe("list_turns", nobody),
        script.probe("context", nobody),
        script.probe("list_memories", nobody),
    )
    return script.schedule()


SCENARIO = Scenario(
    id="doctor",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ISOLATION}),
    needs=frozenset(),
    plan=plan,
)


async def examine(run_plan: RunPlan) -> tuple[RunResult, tuple[Diagnosis, ...]]:
    """Put the examination to a target and say what was seen, operation by operation, channel by channel."""
    result = await verify(run_plan, (SCENARIO,))
    return result, tuple(line for history in result.histories for line in _diagnose(history))


def _diagnose(history: History) -> list[Diagnosis]:
    lines = []
    outcomes: dict[str, list[str]] = {}
    for probe, invoked in history.invocations.items():
        if invoked.scope[2] == _NEVER:
            continue  # a refusal is a right answer there
        outcome = history.outcome(probe)
        told = (
            outcome.status if outcome.status == "ok" else f"{outcome.status} ({outcome.code}: {outcome.reason[:120]})"
        )
        outcomes.setdefault(invoked.op, []).append(told)
    for op in sorted(outcomes, key=list(OPERATIONS).index):
        worst = next((told for told in outcomes[op] if told != "ok"), "ok")
        lines.append(Diagnosis(f"{op} answers", worst == "ok" or op not in WRITES | OBSERVATIONS, worst))
    return lines + _controls(history) + _nothing_from_nowhere(history)


def _controls(history: History) -> list[Diagnosis]:
    exposure = exposure_of(history)
    outermost = min(exposure.provenance.dimensions)
    owner = exposure.provenance.owners[0] if exposure.provenance.owners else None
    lines = []
    for channel in offered_channels(history):
        if owner is None:
            lines.append(Diagnosis(f"the owner sees its own by {channel}", False, "nothing was planted"))
            continue
        control = exposure.control(Crossing(outermost, channel, owner))
        lines.append(Diagnosis(f"the owner sees its own by {channel}", control.passed, control.detail))
    return lines


def _nothing_from_nowhere(history: History) -> list[Diagnosis]:
    lines = []
    for probe, invoked in history.invocations.items():
        if invoked.scope[2] != _NEVER:
            continue
        outcome = history.outcome(probe)
        empty = outcome.status != "ok" or not _content(outcome.value)
        seen = f"{outcome.status}, {'empty' if empty else 'with content'}"
        lines.append(Diagnosis(f"{invoked.op} of a session that never was shows nothing", empty, seen))
    return lines


def _content(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_content(item) for item in value.values())
    return bool(value)
