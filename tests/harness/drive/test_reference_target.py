"""The bundled agent as a target: it starts, it is stopped whatever happens, and its loss is told as a loss."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from partywall.harness import RunPlan, Status, TargetError, UsageError, verify
from partywall.harness.drive import agent_process
from partywall.harness.drive.agent_process import AgentProcess
from partywall.harness.drive.driver import Limits
from partywall.harness.drive.resolve import kind_of
from partywall.harness.drive.target import TargetSettings


def start(tmp_path: Path, code: str) -> AgentProcess:
    return asyncio.run(AgentProcess.start([sys.executable, "-c", code], os.environ, tmp_path / "errors.txt"))


def test_an_agent_that_does_not_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="ended with code 7 before it was ready: no room at the inn"):
        start(tmp_path, "import sys; print('no room at the inn', file=sys.stderr); sys.exit(7)")


def test_an_agent_that_never_gets_ready_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_process, "READY_TIMEOUT", 0.5)
    with pytest.raises(TargetError, match="not ready within"):
        start(tmp_path, "import time; print('hello', flush=True); time.sleep(60)")


def test_an_agent_that_ignores_being_told_to_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_process, "STOP_TIMEOUT", 0.5)
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready http://x', flush=True); time.sleep(60)"

    async def cycle() -> int:
        command = [sys.executable, "-c", code]
        agent = await AgentProcess.start(command, os.environ, tmp_path / "errors.txt")
        await agent.stop()
        return agent.pid

    pid = asyncio.run(cycle())
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("spec", ["reference:mutant=M99", "reference:oracle", "reference:mutant="])
def test_an_unknown_variant_is_refused_before_anything_starts(spec: str) -> None:
    async def opened() -> None:
        await kind_of(spec).open(spec, TargetSettings())

    with pytest.raises(UsageError, match="known: "):
        asyncio.run(opened())


def test_an_agent_that_dies_in_the_middle_of_a_run_is_a_loss_and_what_was_seen_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agents: list[AgentProcess] = []
    begin = AgentProcess.start

    async def remembered(command: list[str], environment: dict[str, str], errors: Path) -> AgentProcess:
        agents.append(await begin(command, environment, errors))
        return agents[-1]

    def kill_it_once(line: str) -> None:
        if line.startswith("cross_tenant"):
            os.kill(agents[0].pid, signal.SIGKILL)

    monkeypatch.setattr(AgentProcess, "start", staticmethod(remembered))
    plan = RunPlan("reference", ("cross_tenant", "cross_user", "takeover"), limits=Limits(call_timeout=3))
    result = asyncio.run(verify(plan, progress=kill_it_once))
    assert result.failures
    assert result.status is Status.INCONCLUSIVE
    assert result.judgements[0].trial.scenario == "cross_tenant"
    assert result.judgements[0].status is Status.HELD


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_process_is_left_behind_by_an_interrupt(number: signal.Signals, tmp_path: Path) -> None:
    code = "from partywall.harness.frontends.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "verify", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    children: list[int] = []
    deadline = time.monotonic() + 30
    while not children and time.monotonic() < deadline:
        time.sleep(0.05)
        found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False)
        children = [int(pid) for pid in found.stdout.split()]
    assert children, "the agent never started"
    process.send_signal(number)
    output = process.communicate(timeout=30)[0].decode()
    assert process.returncode == 3, output
    assert "Traceback" not in output
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
    assert (tmp_path / "results.json").exists()
