"""Load processes: one Locust master and its workers, started for the time of a run and ended whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from partywall.canaries import UsageError

from ..errors import TargetError
from .load_spec import WORKER

LOCUSTFILE = "partywall.scenarios.load.locustfile"
STARTING = 60.0
"""Seconds that workers have to connect."""
ENDING = 60.0
"""Seconds after the run time that users have to end their last step and processes to write what they saw."""
STOPPING = 5.0
"""Seconds a process has to end when it is told to, before it is made to."""
_STOP_USERS = 10
_PR_SET_PDEATHSIG = 1


def require_locust() -> None:
    """UsageError, naming the extra, where Locust is not installed. It is looked for and not imported."""
    if find_spec("locust") is None:
        raise UsageError("`partywall load` needs the extra 'load': pip install 'partywall[load]'")


class LoadProcesses:
    """The children of one run. `failures` says in sentences what went wrong with them."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._children: dict[str, asyncio.subprocess.Process] = {}
        self.failures: list[str] = []

    async def run(self, users: int, spawn_rate: float, run_time: float, workers: int) -> None:
        """Start all, wait for the end of the run; a worker that ends before its time ends it."""
        port = _free_port()
        here = ["--master-host", "127.0.0.1", "--master-port", str(port)]
        master = ["--headless", "--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", str(port)]
        master += ["--expect-workers", str(workers), "--expect-workers-max-wait", f"{STARTING:g}"]
        master += ["--users", str(users), "--spawn-rate", f"{spawn_rate:g}", "--run-time", f"{run_time:g}s"]
        master += ["--stop-timeout", str(_STOP_USERS), "--only-summary", "--exit-code-on-error", "0"]
        await self._start("master", master)
        for number in range(workers):
            await self._start(f"worker {number}", ["--worker", *here, "--exit-code-on-error", "0"], number)
        await self._wait(run_time)

    async def stop(self) -> None:
        """Ask all to end, workers first, since they write what they saw; after five seconds make them."""
        for child in reversed(self._children.values()):
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    child.terminate()
        waits = [asyncio.create_task(child.wait()) for child in self._children.values()]
        if waits:
            await asyncio.wait(waits, timeout=STOPPING)
        for child in self._children.values():
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    child.kill()
                await child.wait()

    async def _start(self, name: str, options: Sequence[str], worker: int | None = None) -> None:
        numbered = {} if worker is None else {WORKER: str(worker)}
        with self._log(name).open("wb") as log:
            self._children[name] = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "locust", "--locustfile", _locustfile(), *options),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,  # not the caller's: a locust.conf there would have its say
                env={**self._environment, **numbered},
                start_new_session=True,  # an interrupt from the terminal is ours to pass on, once and in order
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )

    async def _wait(self, run_time: float) -> None:
        waits = {asyncio.create_task(child.wait()): name for name, child in self._children.items()}
        try:
            deadline = asyncio.get_running_loop().time() + STARTING + run_time + ENDING
            pending = set(waits)
            while pending:
                left = deadline - asyncio.get_running_loop().time()
                done, pending = await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    names = ", ".join(sorted(waits[task] for task in pending))
                    self.failures.append(f"{names} did not end {ENDING:g} s after the run")
                    return
                broken = [waits[task] for task in done if task.result() != 0]
                if broken:
                    self.failures += [self._told(name) for name in broken]
                    return
        finally:
            for task in waits:
                task.cancel()

    def _told(self, name: str) -> str:
        code = self._children[name].returncode or 0
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        said = (
            self._log(name).read_text("utf-8", "replace") if code > 0 else ""
        )  # one that was killed says nothing of it
        lines = said.strip().splitlines()
        return f"the Locust {name} {how}" + (f": {lines[-1][:300]}" if lines else "")

    def _log(self, name: str) -> Path:
        return self._folder / f"{name.replace(' ', '-')}.log"


def _locustfile() -> str:
    found = find_spec(LOCUSTFILE)
    if found is None or found.origin is None:
        raise TargetError(f"the package has no {LOCUSTFILE}")
    return found.origin


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _die_with_parent() -> None:
    """The child is told to end when the harness does, even by kill -9 (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
