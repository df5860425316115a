"""`partywall load`: put a target under the load of many tenants, check every answer, judge the whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_TARGET = "reference"
DEFAULT_REPORTS = "json,history,junit,markdown"
LONGEST = 24 * 3600.0

_TIME = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?")


def load(
    users: Annotated[int, typer.Option(min=1, max=10_000, help="Simulated users at the most.")] = 8,
    spawn_rate: Annotated[float, typer.Option(min=0.01, max=1000.0, help="Users started a second.")] = 4.0,
    run_time: Annotated[str, typer.Option(help="How long: 90, 90s, 20m, 1h30m.")] = "10s",
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that send.")] = 1,
    target: Annotated[str, typer.Option(help="reference, an HTTP profile, or a base URL.")] = DEFAULT_TARGET,
    headless: Annotated[bool, typer.Option("--headless", help="Without a web page; the one way there is.")] = True,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the reports.")] = Path("out"),
    report: Annotated[str, typer.Option(help="Reports to write, separated by commas.")] = DEFAULT_REPORTS,
    timeout: Annotated[float, typer.Option(min=0.1, max=600.0, help="Deadline of one request in seconds.")] = 10.0,
    max_failed: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Exit 6 where a greater share of the requests failed.")
    ] = 0.05,
    most_entries: Annotated[
        int, typer.Option(min=100, max=1_000_000, help="Entries that each worker's history may hold.")
    ] = 40_000,
    allow_inconclusive: Annotated[bool, typer.Option(help="Exit 0 where the worst verdict is inconclusive.")] = False,
    key_file: Annotated[Path | None, typer.Option(help="File with the canary key, at least 32 bytes.")] = None,
) -> int:
    """Load-test a target: exit 1 where any tenant was shown another's content, 6 where too much failed."""
    from partywall.canaries import UsageError

    from ..deployment_key import read_key
    from ..load_run import LoadPlan, run_and_tell
    from ..verification import run_nonce, words

    if workers > users:
        raise UsageError(f"{workers} workers for {users} users: expected a user for each worker at least")
    plan = LoadPlan(
        target=target,
        users=users,
        spawn_rate=spawn_rate,
        run_time=seconds_of(run_time),
        workers=workers,
        seed=seed,
        timeout=timeout,
        max_failed=max_failed,
        most_entries=most_entries,
        key=read_key(key_file, required=False),
        nonce=run_nonce(),
    )
    return run_and_tell(plan, out, words(report), allow_inconclusive)


def seconds_of(text: str) -> float:
    """The seconds of a duration: `90`, `90s`, `20m`, `1h30m`. UsageError otherwise, and beyond a day."""
    from partywall.canaries import UsageError

    found = _TIME.fullmatch(text.strip())
    hours, minutes, seconds = (float(part or 0) for part in found.groups()) if found else (0.0, 0.0, 0.0)
    total = hours * 3600 + minutes * 60 + seconds
    if not 1 <= total <= LONGEST:
        raise UsageError(f"--run-time {text!r} is no time; expected 1s to 24h, as 90s, 20m or 1h30m")
    return total
