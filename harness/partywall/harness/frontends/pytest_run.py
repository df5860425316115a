"""Pytest run: one scenario put to one target for one test, and what the test is told of it."""

from __future__ import annotations

import os
import shlex
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from partywall.canaries import UsageError

from ..drive.resolve import kind_of
from ..drive.target import TargetKind
from ..drive.targets.function import kind_for
from ..errors import unknown
from ..exits import exit_of
from ..judge.verdict import Judgement, Status
from ..observe.history import History
from ..plan.scenario import Pack
from ..report.build import build
from ..report.escape import bounded, one_line, without_commands
from ..report.reporters._facts import WORDS, Kind, counted, explain, kinds, replay, title
from ..report.results import Results
from ..run import RunPlan, RunResult, chosen, scenarios, verify
from .deployment_key import read_key
from .pytest_loop import BackgroundLoop

_KINDS_TOLD = 10
_REASONS_TOLD = 8
_CLAIM = 600
_EXCERPT = 240


@dataclass(frozen=True, slots=True)
class Subject:
    """What is verified: how reports name it, and the kind that opens it."""

    spec: str
    kind: TargetKind
    named: bool
    """Whether `partywall replay` finds it again by its name alone."""

    @staticmethod
    def of(target: Any) -> Subject:
        """The subject that a test names: text as after `--target`, a path, a kind, or an adapter or what makes one.

        UsageError for text that no kind understands, and for nothing.
        """
        if target is None:
            raise UsageError("partywall_target gave None; expected a target's name, an adapter or what makes one")
        if isinstance(target, TargetKind):
            return Subject(target.id, target, named=False)
        if isinstance(target, str | os.PathLike):
            spec = os.fspath(target)
            return Subject(str(spec), kind_of(str(spec)), named=True)
        return Subject(getattr(target, "__qualname__", type(target).__qualname__), kind_for(target), named=False)


class PartywallRun:
    """What one scenario showed. `assert_held` is all that most tests need of it.

    results      as in results.json: status, verdicts, findings, matrix, counts; texts as they were seen
    judgements   the verdicts of every check, one judgement a world
    histories    everything that happened; `partywall judge` reads them from a file
    """

    def __init__(self, scenario: str, result: RunResult, results: Results, reproduce: Sequence[str]) -> None:
        self.scenario = scenario
        self.status = Status(results.status)
        self.looked_at = False
        self._result = result
        self._results = results
        self._told = bounded(results, {history.header.prefix for history in result.histories})
        self._reproduce = tuple(reproduce)

    @property
    def results(self) -> Results:
        """The results, as every report is made of them."""
        self.looked_at = True
        return self._results

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What every check says."""
        self.looked_at = True
        return self._result.judgements

    @property
    def histories(self) -> tuple[History, ...]:
        """What happened, world by world."""
        self.looked_at = True
        return self._result.histories

    def assert_held(self) -> None:
        """AssertionError with the testimony where a guarantee was violated, or where nothing could be concluded."""
        __tracebackhide__ = True
        self.looked_at = True
        if self.status is not Status.HELD:
            raise AssertionError(self.message)

    @property
    def message(self) -> str:
        """What happened and how to see it again; no canary stands in it whole."""
        return without_commands("\n".join(self._lines()))

    @property
    def reason(self) -> str:
        """Why nothing was covered."""
        told = [record.reason or f"needs {', '.join(record.needs)}" for record in self._told.not_covered]
        return one_line("; ".join(dict.fromkeys(told)), _CLAIM) or "nothing was covered"

    @property
    def properties(self) -> list[tuple[str, str]]:
        """The evidence as names and texts, for JUnit and other reports."""
        found, counts = self._kinds(), self._told.counts
        told = [
            ("partywall_status", self.status.value),
            ("partywall_scenario", self.scenario),
            ("partywall_target", one_line(self._result.plan.target, _EXCERPT)),
            ("partywall_seed", str(self._told.seed)),
            ("partywall_probes", str(counts.probes)),
            ("partywall_checked", f"{counts.observations_checked} of {counts.observations_total}"),
        ]
        told += [("partywall_trial", trial) for trial in dict.fromkeys(record.trial for record in self._told.trials)]
        if found:
            told.append(("partywall_codes", ",".join(dict.fromkeys(kind.first.code for kind in found))))
        told += [
            ("partywall_finding", f"{kind.first.code} {one_line(kind.first.claim, _CLAIM)}")
            for kind in found[:_KINDS_TOLD]
        ]
        return told

    def _kinds(self) -> list[Kind]:
        """By code, isolation first: a check's name must not decide what stands at the head."""
        return sorted(kinds(self._told), key=lambda kind: kind.first.code)

    def __repr__(self) -> str:
        return f"<{self.scenario} on {self._told.target.name}: {self.status}>"

    def _lines(self) -> Iterator[str]:
        """The first testimony and the commands before the rest: a CI server shows the head of a message only."""
        found = self._kinds()
        codes = dict.fromkeys(kind.first.code for kind in found)
        total = f": {counted(sum(kind.count for kind in found), 'finding')} under {', '.join(codes)}" if found else ""
        yield f"{WORDS[self.status]} {self.scenario} on {one_line(self._told.target.name, _EXCERPT)}{total}"
        if found:
            yield _claim(found[0])
        if self.status is Status.INCONCLUSIVE:
            yield from self._undecided()
        for what, told in (("failed", self._told.failures), ("problem", self._told.problems)):
            yield from (f"{what:<11} {one_line(text, _CLAIM)}" for text in told[:_REASONS_TOLD])
        yield from (f"replay      {line}" for line in self._reproduce)
        yield from (f"explain     {explain(code)}" for code in codes)
        if found:
            yield from _evidence(found[0])
        for number, kind in enumerate(found[1:_KINDS_TOLD]):
            yield f"{'also' if not number else '':<11} {_claim(kind)}"
        if len(found) > _KINDS_TOLD:
            yield f"and {len(found) - _KINDS_TOLD} more kinds of finding"

    def _undecided(self) -> Iterator[str]:
        for verdict in self._told.verdicts:
            if Status(verdict.status) is not Status.INCONCLUSIVE:
                continue
            failed = [control for control in verdict.controls if not control.passed]
            reason = "control failed" if failed else one_line(verdict.reason, _CLAIM)
            yield f"undecided   {verdict.check}: {reason}"
            for control in failed[:_REASONS_TOLD]:
                yield f"            {one_line(control.name, _EXCERPT)}: {one_line(control.detail, _EXCERPT)}"
            if len(failed) > _REASONS_TOLD:
                yield f"            and {len(failed) - _REASONS_TOLD} more"


def run_scenario(scenario: str, subject: Subject, seed: int, again: str) -> PartywallRun:
    """Put one scenario to a subject, on an event loop of its own. `again` is the command that runs the test again.

    Raises PartywallError for what the caller got wrong before anything was sent.
    """
    plan = RunPlan(
        target=subject.spec,
        scenarios=(scenario,),
        seed=seed,
        nonce=uuid.uuid4().hex[:12],  # tells this run from earlier ones on a target that keeps what it was told
        key=read_key(None, required=False),
    )
    with BackgroundLoop() as loop:
        result = loop.run(verify(plan, chosen(plan), kind=subject.kind))
    results = _results(result)
    trials = dict.fromkeys(record.trial for record in results.trials)
    return PartywallRun(scenario, result, results, [*(map(replay, trials) if subject.named else ()), again])


def scenario_ids(names: Any, pack: Any) -> list[str]:
    """The scenarios that a marker asks for, by name or by pack. UsageError for a name that is not known."""
    given = [names] if isinstance(names, str) else list(names or ())
    for name in given:
        if name not in scenarios():
            raise unknown("scenario", str(name), scenarios())
    if pack not in list(Pack):
        raise unknown("pack", str(pack), list(Pack))
    plan = RunPlan(target="", scenarios=tuple(given), pack=Pack(pack))
    return [scenario.id for scenario in chosen(plan)]


def command(nodeid: str, target: str, seed: int) -> str:
    """The command that runs one test again, quoted for a POSIX shell."""
    given = [f"--partywall-target={target}"] if target else []
    return shlex.join(["pytest", nodeid, *given, f"--partywall-seed={seed}"])


def _results(result: RunResult) -> Results:
    plan = result.plan
    return build(
        result.judgements,
        target=result.target,
        capabilities=result.capabilities,
        trial=f"target={plan.target} pack={plan.pack} fault={plan.fault} seed={plan.seed} size={plan.size}",
        seed=plan.seed,
        status=result.status,
        exit_code=int(exit_of(result.status, problems=result.problems, failures=result.failures)),
        seconds=result.seconds,
        skipped=[(skipped.scenario, skipped.reason) for skipped in result.not_run],
        problems=result.problems,
        failures=result.failures,
    )


def _claim(kind: Kind) -> str:
    return f"{kind.first.code} {title(kind.first.code)}: {one_line(kind.first.claim, _CLAIM)}"


def _evidence(kind: Kind) -> Iterator[str]:
    if not kind.first.evidence:
        return
    first = kind.first.evidence[0]
    place = f" at {first.place}" if first.place else ""
    told = {
        "first seen": f"probe {first.probe}, {first.op}{place}",
        "evidence": f"“{first.excerpt}”" if first.excerpt else "",
        "decoded": " → ".join(first.decoded),
        "planted by": first.planted_by,
    }
    yield from (f"{heading:<11} {one_line(text, _EXCERPT)}" for heading, text in told.items() if text)
