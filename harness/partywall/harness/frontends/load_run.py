"""Load run: a target under load by Locust, then one judgement of what all workers saw."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from partywall.canaries import Keyring, UsageError

from ..drive.driver import closed, within
from ..drive.http import HttpTarget, Profile, load_profile, shipped_profile
from ..drive.http.load import SUFFIXES
from ..drive.http.template import Inexpressible
from ..drive.resolve import kind_of
from ..drive.target import TargetKind, TargetSettings
from ..drive.targets._watched import WatchedHttpTarget
from ..drive.targets.reference import ReferenceTarget
from ..errors import TargetError
from ..exits import Exit, exit_of
from ..judge.bench import judge
from ..judge.verdict import Status, worst
from ..observe.history import Header
from ..plan import Identity
from ..report.build import build
from ..report.escape import one_line
from ..run import OPEN_TIMEOUT
from .load_merge import Tally, gathered, merged
from .load_processes import LoadProcesses, require_locust
from .load_prompts import LoadPrompts
from .load_spec import LoadSpec
from .load_traffic import owner
from .load_witness import header_of
from .supervise import STALL, supervise
from .verification import check_writable, print_and_write, reporters_of

REFERENCE_PROFILE = "reference-agent"
AGENT_URL, TOKEN_KEY = "PARTYWALL_AGENT_URL", "PARTYWALL_TOKEN_KEY"
"""What that profile takes from the environment."""
KINDS = ("http", "reference")
"""Kinds of target that processes of their own can reach."""


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What is asked for. Times are in seconds; `max_failed` is a share of all requests, `most_entries` bounds the
    history of each worker; `nonce` tells runs on one lasting target apart."""

    target: str
    users: int
    spawn_rate: float
    run_time: float
    workers: int = 1
    seed: int = 1
    timeout: float = 10.0
    max_failed: float = 0.05
    most_entries: int = 40_000
    key: bytes = b""
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and why in sentences, the worst first."""

    status: Status
    code: Exit
    failures: tuple[str, ...]


def run_and_tell(plan: LoadPlan, out: Path, report: Sequence[str], allow_inconclusive: bool = False) -> int:
    """Run, judge, print, write the reports, and give the exit code.

    Everything the caller can get wrong is refused before anything is started. Reports are written whatever the run
    came to, an interrupt included.
    """
    chosen = reporters_of(report)
    kind = _kind(plan)
    require_locust()
    check_writable(out)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="partywall-load-") as name:
        run = LoadRun(plan, kind, Path(name))

        def stalled() -> int:
            typer.echo(f"error: the run did not move for {STALL:g} s", err=True)
            return int(Exit.LOST)

        try:
            supervise(run.through(), on_stall=stalled)
        except KeyboardInterrupt:
            if run.header is None:
                raise
            run.failures.append("interrupted")
        except TargetError as error:
            run.failures.append(str(error))
        if run.header is None:
            raise TargetError("; ".join(run.failures))
        typer.echo("  judging what the workers saw", err=True)
        histories, tally = gathered(Path(name), plan.workers)
        if run.prompts is not None:
            histories.append(run.prompts.history(run.header, histories))
        history = merged(histories, run.header, tally.lost)
    judgement = judge(history)
    ended = conclusion(judgement.status, tally, run.failures, plan.max_failed, allow_inconclusive)
    results = build(
        [judgement],
        target=run.name,
        capabilities=run.header.capabilities,
        trial=str(run.header.trial),
        seed=plan.seed,
        status=ended.status,
        exit_code=int(ended.code),
        seconds=time.monotonic() - began,
        problems=tally.problems,
        failures=ended.failures,
    )
    (out / "load.json").write_text(json.dumps({**tally.figures, "checked": tally.checked}, indent=1), encoding="utf-8")
    print_and_write(results, [history], out, chosen)
    for line in figures(tally):
        typer.echo(line)
    if run.prompts is not None:
        typer.echo(f"prompts  {run.prompts.caught:,} caught · {run.prompts.told:,} known whose")
    return int(ended.code)


def conclusion(
    status: Status, tally: Tally, failures: Sequence[str], max_failed: float, allow_inconclusive: bool = False
) -> Ended:
    """The exit code of a load run, by the precedence of all exit codes: a leak that any worker saw is 1, whatever
    else went wrong; what went unchecked outweighs a threshold."""
    told = list(failures)
    told += [f"worker {number} left no history" for number in tally.lost]
    told += [f"a Locust task raised {each}" for each in tally.exceptions]
    if tally.checked < tally.requests:
        told.append(
            f"{tally.checked} of {tally.requests} requests were checked: {tally.requests - tally.checked} went unseen"
        )
    if not tally.requests:
        told.append("not one request was sent, so nothing was checked")
    lost = tuple(told)
    if tally.foreign and status is not Status.VIOLATED:
        status = Status.VIOLATED
        told.append(f"{tally.foreign} answers held a foreign canary, and their evidence did not reach the history")
    if lost:
        status = worst((status, Status.INCONCLUSIVE))
    code = exit_of(status, problems=tally.problems, failures=lost, allow_inconclusive=allow_inconclusive)
    if tally.failed_share > max_failed:
        told.append(
            f"availability: {tally.failed} of {tally.requests} requests failed ({tally.failed_share:.1%}), "
            f"more than {max_failed:.1%}"
        )
        code = Exit.THRESHOLD if code in (Exit.HELD, Exit.NOTHING_COVERED) else code
    return Ended(status, code, tuple(told))


def figures(tally: Tally) -> list[str]:
    """How fast it was, as lines for the terminal: one a kind of request, then all of them."""
    lines = []
    for name, each in tally.figures.get("operations", {}).items():
        times = " ".join(f"{p} {each[p]:.0f} ms" for p in ("p50", "p95", "p99") if each.get(p) is not None)
        lines.append(f"  {name:<16} {each['requests']:>7,} requests {each['failures']:>5,} failed   {times}")
    rate = tally.figures.get("per_second", 0.0)
    lines.append(
        f"load     {tally.requests:,} requests · {tally.checked:,} checked · {tally.failed:,} failed "
        f"({tally.failed_share:.1%}) · {tally.foreign:,} with a foreign canary · {rate:,.1f} requests/s"
    )
    return lines


class LoadRun:
    """One run: the target in this process, Locust in children. `header` is there once the target was opened, `prompts`
    where its model is ours to watch."""

    def __init__(self, plan: LoadPlan, kind: TargetKind | None, folder: Path) -> None:
        self._plan = plan
        self._kind = kind
        self._folder = folder
        self.name = plan.target
        self.header: Header | None = None
        self.prompts: LoadPrompts | None = None
        self.failures: list[str] = []

    async def through(self) -> None:
        """Open the target, run Locust to its end, see whether the target is still there, close it."""
        target = await self._opened()
        try:
            _admit(self._plan, target.profile)
            if isinstance(target, WatchedHttpTarget):
                self.prompts = LoadPrompts(target.mock, self._plan.most_entries)
            spec = self._spec(target)
            self.name, self.header = target.name, header_of(spec, target.capabilities)
            typer.echo(one_line(f"  target {target.name}"), err=True)
            processes = LoadProcesses(self._folder, spec.environment(os.environ, _secrets(self._plan, target)))
            try:
                await processes.run(self._plan.users, self._plan.spawn_rate, self._plan.run_time, self._plan.workers)
                await target.probe()
            finally:
                self.failures += processes.failures
                await processes.stop()
        finally:
            await closed(target)

    async def _opened(self) -> HttpTarget:
        spec = self._plan.target
        try:
            if self._kind is None:
                target = HttpTarget(_bare_profile(spec), spec)
                await target.probe()
                return target
            kind = self._kind
            opened = await within(OPEN_TIMEOUT, lambda: kind.open(spec, TargetSettings(self._plan.seed)))
        except TimeoutError:
            raise TargetError(f"target {spec!r} did not open within {OPEN_TIMEOUT:g} s") from None
        assert isinstance(opened, HttpTarget)
        return opened

    def _spec(self, target: HttpTarget) -> LoadSpec:
        plan = self._plan
        key = plan.key or hashlib.sha256(f"partywall load {plan.seed}".encode()).digest()
        keyring = Keyring.derive(key, f"load-{plan.seed}")
        rps = target.profile.limits.rps
        return LoadSpec(
            profile=REFERENCE_PROFILE if _is_reference(self._kind) else _absolute(plan.target),
            target=plan.target,
            seed=plan.seed,
            users=plan.users,
            workers=plan.workers,
            keyrings=tuple(ring.to_record() for ring in (keyring, *target.keyrings)),
            folder=str(self._folder),
            nonce="" if target.capabilities.fresh else plan.nonce[:6],
            most_entries=plan.most_entries,
            gap=plan.users / rps if rps else 0.0,
            timeout=plan.timeout,
            prompts=self.prompts is not None,
        )


def _kind(plan: LoadPlan) -> TargetKind | None:
    """The kind of the target, None for a base URL; UsageError for one that other processes cannot reach."""
    if _is_url(plan.target):
        return None
    kind = kind_of(plan.target)
    if kind.id not in KINDS:
        raise UsageError(
            f"target {plan.target!r} lives in one process and cannot be put under load; "
            "expected reference, a base URL, or an HTTP profile (*.yaml)"
        )
    return kind


def _admit(plan: LoadPlan, profile: Profile) -> None:
    """UsageError where the profile cannot bear the users that are asked for, or knows no credentials for them."""
    room = profile.limits.concurrency
    if room and plan.users > room:
        raise UsageError(
            f"profile {profile.name!r} bears {room} requests at once; --users {plan.users} would send more"
        )
    for number in range(plan.users):
        tenant, user, _ = owner(number)
        try:
            profile.identities.of(Identity(tenant, user))
        except Inexpressible as error:
            raise UsageError(f"{error}; with --users {number} it would suffice") from None


def _secrets(plan: LoadPlan, target: HttpTarget) -> dict[str, str]:
    """What a worker's profile asks its environment for, where it is known only here."""
    if isinstance(target, ReferenceTarget):
        return {AGENT_URL: target.profile.base_url, TOKEN_KEY: target.secret}
    return {AGENT_URL: target.profile.base_url} if _is_url(plan.target) else {}


def _bare_profile(url: str) -> Profile:
    if TOKEN_KEY not in os.environ:
        raise UsageError(f"{url!r} is spoken to as a reference agent: set {TOKEN_KEY}, or give an HTTP profile instead")
    environment = {**os.environ, AGENT_URL: url.rstrip("/")}
    return load_profile(shipped_profile(REFERENCE_PROFILE), environment=environment)


def _is_reference(kind: TargetKind | None) -> bool:
    return kind is None or kind.id == "reference"


def _is_url(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def _absolute(target: str) -> str:
    """Children stand in a folder of their own, so a file is named from the root; a shipped name stays."""
    return str(Path(target).absolute()) if target.lower().endswith(SUFFIXES) else target
