"""`partywall verify`: put a target to the scenarios and judge what happened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_TARGET = "reference"
DEFAULT_REPORTS = "json,history,junit,markdown"


def verify(
    target: Annotated[str, typer.Option(help="What to verify: a name or package.module:factory.")] = DEFAULT_TARGET,
    pack: Annotated[str, typer.Option(help="quick, standard or full.")] = "quick",
    scenarios: Annotated[str, typer.Option(help="Only these scenarios, separated by commas.")] = "",
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 1,
    size: Annotated[int, typer.Option(min=1, max=1000, help="Pairs of scopes per scenario.")] = 1,
    fault: Annotated[
        str, typer.Option(help="A fault of the target's model, FILE.yaml or FILE.yaml:NAME; see `list faults`.")
    ] = "steady",
    out: Annotated[Path, typer.Option(help="Folder for the reports.")] = Path("out"),
    report: Annotated[str, typer.Option(help="Reports to write, separated by commas.")] = DEFAULT_REPORTS,
    timeout: Annotated[float, typer.Option(min=0.1, help="Deadline of one call in seconds.")] = 10.0,
    max_time: Annotated[
        float, typer.Option(min=0.0, help="Start no scenario after this many seconds; 0: no limit.")
    ] = 0,
    require: Annotated[str, typer.Option(help="Guarantees that must be held, separated by commas.")] = "",
    allow_inconclusive: Annotated[bool, typer.Option(help="Exit 0 where the worst verdict is inconclusive.")] = False,
    destructive: Annotated[bool, typer.Option(help="The target may be purged and killed.")] = False,
    key_file: Annotated[Path | None, typer.Option(help="File with the canary key, at least 32 bytes.")] = None,
) -> int:
    """Verify a target: drive it, watch it, judge it, tell."""
    from ...drive.driver import Limits
    from ...run import RunPlan
    from ..deployment_key import read_key
    from ..verification import pack_of, run_and_tell, run_nonce, words

    plan = RunPlan(
        target=target,
        scenarios=words(scenarios),
        pack=pack_of(pack),
        seed=seed,
        size=size,
        fault=fault,
        limits=Limits(call_timeout=timeout),
        max_time=max_time,
        nonce=run_nonce(),
        key=read_key(key_file, required=False),
        destructive=destructive,
    )
    return run_and_tell(plan, out, words(report), required=words(require), allow_inconclusive=allow_inconclusive)
