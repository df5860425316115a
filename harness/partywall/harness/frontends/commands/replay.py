"""`partywall replay`: run one trial again from the line that a report printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def replay(
    trial: Annotated[str, typer.Argument(help="The line, in quotes: 'scenario=… target=… fault=… seed=1 size=1'.")],
    out: Annotated[Path, typer.Option(help="Folder for the reports.")] = Path("out/replay"),
    report: Annotated[str, typer.Option(help="Reports to write, separated by commas.")] = "json,history",
    key_file: Annotated[Path | None, typer.Option(help="File with the canary key, as the run had it.")] = None,
) -> int:
    """Replay one trial: the same scenario, target, fault, seed and size give the same schedule."""
    from ...errors import UsageError
    from ...plan.trial import Trial
    from ...run import RunPlan
    from ..deployment_key import read_key
    from ..verification import run_and_tell, run_nonce, words

    parsed = Trial.parse(trial)
    if parsed.scenario == "load":
        raise UsageError(
            "a load run goes as fast as the machine lets it, so no schedule of it can be replayed; run `partywall load "
            f"--target {parsed.target} --users {parsed.size} --seed {parsed.seed}` again, or judge its history"
        )
    plan = RunPlan(
        target=parsed.target,
        scenarios=(parsed.scenario,),
        seed=parsed.seed,
        size=parsed.size,
        fault=parsed.fault,
        nonce=run_nonce(),
        key=read_key(key_file, required=False),
    )
    return run_and_tell(plan, out, words(report))
