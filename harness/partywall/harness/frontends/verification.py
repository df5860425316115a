"""Verification: from a run plan to the terminal, the report files and the exit code."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

import typer
from partywall.canaries import PartywallError, UsageError
from rich.console import Console

from ..errors import unknown
from ..exits import Exit, exit_of, missing_guarantees
from ..judge.bench import judge
from ..judge.verdict import worst
from ..mock_llm import profile_of
from ..observe.history import History
from ..observe.journal import write
from ..plan.scenario import Pack
from ..report.build import build
from ..report.escape import one_line
from ..report.reporter import Reporter, reporters
from ..report.reporters.text import print_text
from ..report.results import Results
from ..run import Run, RunPlan, RunResult, chosen
from .supervise import STALL, supervise


def words(text: str) -> tuple[str, ...]:
    """The words of a comma-separated option."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def pack_of(name: str) -> Pack:
    """The pack of that name; UsageError naming the known ones otherwise."""
    if name not in list(Pack):
        raise unknown("pack", name, list(Pack))
    return Pack(name)


def run_nonce() -> str:
    """What tells this run from earlier ones on a target that keeps what it was told."""
    return hashlib.sha256(f"{time.time_ns()}/{os.getpid()}".encode()).hexdigest()[:12]


def run_and_tell(
    plan: RunPlan,
    out: Path,
    report: Sequence[str],
    required: Sequence[str] = (),
    allow_inconclusive: bool = False,
) -> int:
    """Run, print, write the reports, and give the exit code.

    Everything the caller can get wrong is refused before anything is sent. Reports are written whatever the run
    came to, also where the target blocked the process, the harness failed or somebody interrupted it.
    """
    chosen_reporters = reporters_of(report)
    missing_guarantees(required, ())
    profile_of(plan.fault)
    to_run = chosen(plan)
    check_writable(out)
    run = Run(plan, lambda line: typer.echo(one_line(f"  {line}"), err=True))

    def tell(result: RunResult) -> int:
        missing = missing_guarantees(required, result.judgements)
        code = exit_of(
            result.status,
            problems=result.problems,
            failures=result.failures,
            missing=missing,
            allow_inconclusive=allow_inconclusive,
        )
        results = _results(result, code, missing)
        print_and_write(results, result.histories, out, chosen_reporters)
        return int(code)

    def stalled() -> int:
        run.fail(f"the target blocked the event loop for {STALL:g} s; an async method must not block")
        return tell(run.result())

    try:
        supervise(run.through(to_run), on_stall=stalled)
    except KeyboardInterrupt:
        run.fail("interrupted")
    except PartywallError:
        raise
    except Exception as error:  # what was seen before the harness failed is told all the same
        if os.environ.get("PARTYWALL_DEBUG"):
            raise
        run.fail(f"the harness failed: {type(error).__name__}: {error}; PARTYWALL_DEBUG=1 shows where")
    return tell(run.result())


def judge_and_tell(
    histories: Sequence[History],
    out: Path | None,
    report: Sequence[str],
    required: Sequence[str] = (),
    allow_inconclusive: bool = False,
) -> int:
    """Judge saved histories, print, write reports where a folder is given, and give the exit code."""
    chosen_reporters = reporters_of(report)
    judgements = [judge(history) for history in histories]
    missing = missing_guarantees(required, judgements)
    status = worst(judgement.status for judgement in judgements)
    code = exit_of(status, missing=missing, allow_inconclusive=allow_inconclusive)
    first = histories[0].header
    results = build(
        judgements,
        target=first.trial.target,
        capabilities=first.capabilities,
        trial=str(first.trial),
        seed=first.trial.seed,
        status=status,
        exit_code=int(code),
        failures=[f"required and not held: {name}" for name in missing],
    )
    if out is not None:
        check_writable(out)
    print_and_write(results, histories, out, chosen_reporters)
    return int(code)


def blocked() -> int:
    """What to do where a target blocked the loop and there is nothing to save."""
    typer.echo(f"error: the target blocked the event loop for {STALL:g} s; an async method must not block", err=True)
    return int(Exit.LOST)


def _results(result: RunResult, code: Exit, missing: Sequence[str]) -> Results:
    plan = result.plan
    return build(
        result.judgements,
        target=result.target,
        capabilities=result.capabilities,
        trial=f"target={plan.target} pack={plan.pack} fault={plan.fault} seed={plan.seed} size={plan.size}",
        seed=plan.seed,
        status=result.status,
        exit_code=int(code),
        seconds=result.seconds,
        skipped=[(skipped.scenario, skipped.reason) for skipped in result.not_run],
        asked={call.op for history in result.histories for call in history.invocations.values()},
        problems=result.problems,
        failures=[*result.failures, *(f"required and not held: {name}" for name in missing)],
    )


def print_and_write(
    results: Results, histories: Sequence[History], out: Path | None, chosen: Sequence[Reporter]
) -> None:
    """The report on the terminal, and the files of the chosen reporters where a folder is given."""
    if out is not None:
        write(histories, out / "history.jsonl")
        for reporter in chosen:
            if reporter.filename != "history.jsonl":
                draft = out / f"{reporter.filename}.part"
                draft.write_text(reporter.render(results, histories), encoding="utf-8")
                draft.replace(out / reporter.filename)
    print_text(results, Console(highlight=False, soft_wrap=False), histories)
    if out is not None:
        names = ["history.jsonl", *(r.filename for r in chosen if r.filename != "history.jsonl")]
        typer.echo("reports  " + " ".join(str(out / name) for name in names))


def reporters_of(names: Sequence[str]) -> list[Reporter]:
    """The reporters of these names, `json` always among them; UsageError for a name not known."""
    known = reporters()
    for name in names:
        if name not in known:
            raise unknown("report", name, known)
    wanted = dict.fromkeys(("json", *names))  # results.json is what all else is made of: it is always written
    return [known[name] for name in wanted]


def check_writable(out: Path) -> None:
    """UsageError where nothing can be written to that folder."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"cannot write to {str(out)!r}: {error.strerror}") from error
