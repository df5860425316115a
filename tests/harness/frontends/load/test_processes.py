"""Master and workers as processes: told by environment alone, watched, and ended whatever happens."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from partywall.harness.frontends.load_processes import LoadProcesses

LOCUST = """#!{python}
import json, os, signal, sys, time
name = "worker-" + os.environ["PARTYWALL_LOAD_WORKER"] if "--worker" in sys.argv else "master"
with open(name + ".told", "w") as file:
    json.dump([os.getpid(), sys.argv], file)
{body}
"""
"""Stands in for the interpreter, and so for Locust: whatever it is asked to run, it does `body`."""

Started = Callable[[str], LoadProcesses]


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Started:
    """Processes whose Locust does what `body` says."""

    def make(body: str) -> LoadProcesses:
        stand_in = tmp_path / "python"
        stand_in.write_text(LOCUST.replace("{python}", sys.executable).replace("{body}", body))
        stand_in.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(stand_in))
        return LoadProcesses(tmp_path, {**os.environ, "PARTYWALL_TOKEN_KEY": "kestrel"})

    return make


def alive(folder: Path) -> list[int]:
    """The processes that were started and have not ended."""
    found = []
    for file in folder.glob("*.told"):
        pid = int(file.read_text().partition(",")[0].lstrip("["))
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        found.append(pid)
    return found


async def run(processes: LoadProcesses, workers: int = 2) -> None:
    try:
        await processes.run(users=4, spawn_rate=2, run_time=1, workers=workers)
    finally:
        await processes.stop()


def test_a_run_that_ends_well_has_no_failure(started: Started, tmp_path: Path) -> None:
    processes = started("pass")
    asyncio.run(run(processes))
    assert processes.failures == []
    assert len(list(tmp_path.glob("*.told"))) == 3


def test_no_secret_is_an_argument(started: Started, tmp_path: Path) -> None:
    asyncio.run(run(started("pass")))
    told = "".join(file.read_text() for file in tmp_path.glob("*.told"))
    assert "--expect-workers" in told
    assert "kestrel" not in told


def test_a_worker_that_breaks_ends_the_run_with_its_last_line(started: Started, tmp_path: Path) -> None:
    processes = started("if name == 'worker-1': print('first\\nno such module'); sys.exit(3)\ntime.sleep(60)")
    begun = time.monotonic()
    asyncio.run(run(processes))
    assert time.monotonic() - begun < 20
    assert processes.failures == ["the Locust worker 1 ended with code 3: no such module"]
    assert alive(tmp_path) == []


def test_a_worker_that_is_killed_is_named(started: Started, tmp_path: Path) -> None:
    processes = started("if name == 'worker-0': os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(60)")
    asyncio.run(run(processes))
    assert processes.failures == ["the Locust worker 0 was ended by SIGKILL"]
    assert alive(tmp_path) == []


@pytest.mark.parametrize("deaf", [False, True], ids=["heeds SIGTERM", "ignores SIGTERM"])
def test_an_interrupted_run_leaves_no_process_behind(
    deaf: bool, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partywall.harness.frontends.load_processes.STOPPING", 0.5)
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if deaf else ""
    processes = started(f"{ignore}open(name + '.up', 'w').close()\ntime.sleep(60)")

    async def interrupted() -> None:
        task = asyncio.create_task(run(processes))
        while len(list(tmp_path.glob("*.up"))) < 3:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert alive(tmp_path) == []


def test_processes_that_do_not_end_are_named_and_ended(
    started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STARTING", "ENDING"):
        monkeypatch.setattr(f"partywall.harness.frontends.load_processes.{name}", 0.5)
    processes = started("if name == 'worker-1': time.sleep(60)")
    asyncio.run(run(processes))
    assert processes.failures == ["worker 1 did not end 0.5 s after the run"]
    assert alive(tmp_path) == []
