"""Run: the one place where planning, driving, observing and judging meet."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from partywall.canaries import DEFAULT_PREFIX, Keyring

from .drive.driver import Limits, closed, drive, within
from .drive.resolve import kind_of
from .drive.target import Target, TargetKind, TargetSettings
from .errors import PartywallError, TargetError, UsageError, unknown
from .judge.bench import judge
from .judge.verdict import Judgement, Status, worst
from .observe.history import Header, History
from .observe.recorder import Recorder
from .plan.capabilities import Capabilities
from .plan.planting import Planting
from .plan.scenario import PROMPT, Pack, Scenario
from .plan.schedule import Schedule
from .plan.trial import STEADY, Trial
from .registry import discover

Progress = Callable[[str], None]

OPEN_TIMEOUT = 60.0
"""Seconds that a target has to open: starting processes and importing large libraries is slow, silence is not."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What is to be verified. `max_time` is in seconds, 0 for none; `nonce` tells runs on one lasting target apart.

    `key` is the deployment key, at least 32 bytes; without one, the run derives its own from the seed: a verify run
    needs no secret, since only it reads what it planted.
    """

    target: str
    scenarios: tuple[str, ...] = ()
    pack: Pack = Pack.QUICK
    seed: int = 0
    size: int = 1
    fault: str = STEADY
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    max_time: float = 0.0
    nonce: str = ""
    key: bytes = b""
    destructive: bool = False


@dataclass(frozen=True, slots=True)
class NotRun:
    """A scenario that was not put to the target, and why."""

    scenario: str
    reason: str
    cut_short: bool = False


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run saw. `problems` are broken contracts (exit 2), `failures` a target that was lost (exit 3)."""

    plan: RunPlan
    target: str
    capabilities: Capabilities | None
    histories: tuple[History, ...]
    judgements: tuple[Judgement, ...]
    not_run: tuple[NotRun, ...]
    problems: tuple[str, ...]
    failures: tuple[str, ...]
    seconds: float

    @property
    def status(self) -> Status:
        """The worst of all judgements; a run that was cut short is at best inconclusive."""
        status = worst(judgement.status for judgement in self.judgements)
        spoiled = self.problems or self.failures or any(skipped.cut_short for skipped in self.not_run)
        return worst((status, Status.INCONCLUSIVE)) if spoiled else status


def scenarios() -> dict[str, Scenario]:
    """All known scenarios by id."""
    return discover("partywall.scenarios", "SCENARIO", "partywall.scenarios")


def chosen(plan: RunPlan) -> list[Scenario]:
    """The scenarios that a plan runs: those it names, else those of its pack. Where it names a fault: those written for
    that kind, or for several where there is none. UsageError for a name not known."""
    known = scenarios()
    for name in plan.scenarios:
        if name not in known:
            raise unknown("scenario", name, known)
    if plan.scenarios:
        return [known[name] for name in dict.fromkeys(plan.scenarios)]
    if plan.fault != STEADY:
        named = [scenario for scenario in known.values() if plan.fault in scenario.faults]
        # a scenario of one fault alone waits for what that one does: under another it could only be inconclusive
        return named or [scenario for scenario in known.values() if len(scenario.faults) > 1]
    return [scenario for scenario in known.values() if plan.pack.includes(scenario.pack)]


async def verify(
    plan: RunPlan,
    to_run: Sequence[Scenario] | None = None,
    progress: Progress = lambda line: None,
    kind: TargetKind | None = None,
) -> RunResult:
    """Verify a target: every scenario in a world of its own, every check over every history.

    Runs the scenarios that the plan chooses where `to_run` names none. A `kind` opens the target in place of the one
    that claims the plan's: for an object at hand, whose name in the plan is only told. Raises UsageError for what the
    caller got wrong before anything was sent. What goes wrong later is in the result, beside what had been observed
    by then.
    """
    run = Run(plan, progress, kind)
    await run.through(chosen(plan) if to_run is None else to_run)
    return run.result()


def schedules_of(
    scenario: Scenario, trial: Trial, capabilities: Capabilities, key: bytes, nonce: str
) -> tuple[tuple[Schedule, ...], Keyring]:
    """The schedules of a trial, fitted to a target, and the keyring of their canaries: the same for the same trial."""
    keyring = Keyring.derive(
        key or hashlib.sha256(f"partywall verify {trial.seed}".encode()).digest(), f"verify-{trial.seed}"
    )
    rng = random.Random(f"{trial.seed}/{trial.scenario}/{trial.size}")
    made = scenario.plan(Planting(keyring, nonce), rng, trial.size)
    worlds = made if isinstance(made, tuple) else (made,)
    return tuple(world.fitted(capabilities) for world in worlds), keyring


class Run:
    """One run. `result` may be asked for at any time, from another thread too: it holds what was finished by then."""

    def __init__(self, plan: RunPlan, progress: Progress, kind: TargetKind | None = None) -> None:
        self._plan = plan
        self._progress = progress
        self._kind: TargetKind = kind or kind_of(plan.target)
        self._settings = TargetSettings(plan.seed, plan.fault, plan.options)
        self._started = time.monotonic()
        self._shared: Target | None = None
        self._name = plan.target
        self._capabilities: Capabilities | None = None
        self._histories: list[History] = []
        self._judgements: list[Judgement] = []
        self._not_run: list[NotRun] = []
        self._problems: list[str] = []
        self._failures: list[str] = []

    async def through(self, to_run: Iterable[Scenario]) -> None:
        """Put these scenarios to the target, one after the other."""
        try:
            for scenario in to_run:
                await self._scenario(scenario)
        finally:
            if self._shared is not None:
                await closed(self._shared)

    def fail(self, reason: str) -> None:
        """Record that the target was lost."""
        self._failures.append(reason)

    def result(self) -> RunResult:
        """What has been seen so far."""
        return RunResult(
            self._plan,
            self._name,
            self._capabilities,
            tuple(self._histories),
            tuple(self._judgements),
            tuple(self._not_run),
            tuple(dict.fromkeys(self._problems)),
            tuple(dict.fromkeys(self._failures)),
            time.monotonic() - self._started,
        )

    async def _scenario(self, scenario: Scenario) -> None:
        limit = self._plan.max_time
        if limit and time.monotonic() - self._started >= limit:
            self._not_run.append(NotRun(scenario.id, f"the time limit of {limit:g} s was reached", cut_short=True))
        elif self._failures:
            self._not_run.append(NotRun(scenario.id, self._failures[0], cut_short=True))
        else:
            named = self._plan.fault != STEADY
            for fault in (self._plan.fault,) if named or not scenario.faults else scenario.faults:
                await self._worlds(scenario, fault)

    async def _worlds(self, scenario: Scenario, fault: str) -> None:
        """A target is asked what it can do first; the world of the first schedule uses that same target."""
        target = await self._opened()
        if target is None:
            return
        trial = Trial(scenario.id, self._plan.target, fault, self._plan.seed, self._plan.size)
        try:
            if self._plan.fault != STEADY and PROMPT not in target.capabilities.watches:
                raise UsageError(
                    f"target {self._plan.target!r} has no mock LLM behind it, so fault {fault!r} cannot be delivered"
                )
            obstacle = scenario.obstacle(self._allowed(target.capabilities))
            if obstacle:
                self._not_run.append(NotRun(scenario.id, obstacle))
                return
            worlds, keyring = schedules_of(
                scenario,
                trial,
                target.capabilities,
                self._plan.key,
                self._nonce(trial, target.capabilities),
            )
            for number, world in enumerate(worlds):
                if number and self._shared is None:
                    await closed(target)
                    target = await self._opened()
                    if target is None:
                        return
                await self._world(scenario, trial, world.under(fault), keyring, target)
        finally:
            if target is not None and self._shared is None:
                await closed(target)

    async def _world(
        self, scenario: Scenario, trial: Trial, schedule: Schedule, keyring: Keyring, target: Target
    ) -> None:
        header = Header(
            trial=trial,
            capabilities=target.capabilities,
            keyrings=tuple(ring.to_record() for ring in (keyring, *target.keyrings)),
            prefix=DEFAULT_PREFIX,
            world=schedule.world,
            exercises=tuple(sorted(scenario.exercises)),
            direction=scenario.direction.label if scenario.direction else "",
            clock=time.time(),
        )
        recorder = Recorder(header)
        report = await drive(schedule, target, recorder, self._plan.limits)
        history = recorder.history()
        # in a thread: judging a long history must not look like a target that blocks the loop
        judgement = await asyncio.to_thread(judge, history)
        self._histories.append(history)
        self._judgements.append(judgement)
        self._problems += report.problems
        if report.stopped:
            self._failures.append(report.stopped)
        self._progress(f"{scenario.id}: {judgement.status}")

    async def _opened(self) -> Target | None:
        if self._shared is not None:
            return self._shared
        try:
            target = await within(OPEN_TIMEOUT, lambda: self._kind.open(self._plan.target, self._settings))
        except TimeoutError:
            self._failures.append(f"target {self._plan.target!r} did not open within {OPEN_TIMEOUT:g} s")
            return None
        except TargetError as error:
            self._failures.append(str(error))
            return None
        except PartywallError as error:
            if not self._histories:
                raise
            self._problems.append(str(error))
            return None
        if not self._kind.per_world:
            self._shared = target
        self._name, self._capabilities = target.name, target.capabilities
        return target

    def _allowed(self, capabilities: Capabilities) -> Capabilities:
        return replace(capabilities, disposable=True) if self._plan.destructive else capabilities

    def _nonce(self, trial: Trial, capabilities: Capabilities) -> str:
        """Worlds that share a store, in this run or from run to run, need tenants of their own."""
        if capabilities.fresh and self._kind.per_world:
            return ""
        run = "" if capabilities.fresh else self._plan.nonce
        under = "" if trial.fault == STEADY else f"/{trial.fault}"
        return hashlib.sha256(f"{run}/{trial.seed}/{trial.scenario}{under}".encode()).hexdigest()[:6]
