"""Agent process: a deployment started for the time of a run, and ended whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import TargetError

READY_TIMEOUT = 30.0
STOP_TIMEOUT = 5.0
_PR_SET_PDEATHSIG = 1


class AgentProcess:
    """A child that prints one line `ready URL` on its standard output.

    `url` is what it printed. Its errors go to a file, whose last line tells why it did not start.
    """

    def __init__(self, process: asyncio.subprocess.Process, url: str, errors: Path) -> None:
        self._process = process
        self.url = url
        self._errors = errors

    @classmethod
    async def start(cls, command: Sequence[str], environment: Mapping[str, str], errors: Path) -> AgentProcess:
        """Start `command` and wait until it is ready.

        Raises TargetError where it ends before, or says nothing within 30 seconds.
        """
        with errors.open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                stdin=asyncio.subprocess.DEVNULL,
                env=dict(environment),
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        agent = cls(process, "", errors)
        try:
            async with asyncio.timeout(READY_TIMEOUT):
                agent.url = await agent._ready()
        except TimeoutError:
            await agent.stop()
            raise TargetError(f"the agent was not ready within {READY_TIMEOUT:g} s{agent.last_words()}") from None
        except BaseException:
            await agent.stop()
            raise
        return agent

    @property
    def running(self) -> bool:
        """Whether the child has not ended."""
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    async def stop(self) -> None:
        """Ask it to end, and after five seconds make it."""
        if self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    def last_words(self) -> str:
        """The last line it wrote to its errors, as the end of a sentence; empty where it wrote none."""
        lines = self._errors.read_text(errors="replace").strip().splitlines() if self._errors.exists() else []
        return f": {lines[-1][:500]}" if lines else ""

    async def _ready(self) -> str:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            words = line.decode(errors="replace").split()
            if len(words) == 2 and words[0] == "ready":
                return words[1]
        code = await self._process.wait()
        raise TargetError(f"the agent ended with code {code} before it was ready{self.last_words()}")


def _die_with_parent() -> None:
    """The child is told to end when the harness does, even by kill -9 (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
