"""The example agent in a process of its own: clean replies, and a mistake that only its prompts show."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from partywall.harness.drive.http import HttpTarget, load_profile
from partywall.harness.errors import TargetError, Unreachable
from partywall.harness.mock_llm import MockLLM

from .profiles import ANN, BOB, a_call
from .test_gone import free_port

FOLDER = Path(__file__).parents[4] / "examples" / "blackbox"


@dataclass(frozen=True, slots=True)
class Running:
    """The agent, the mock model behind it, and the target that its profile makes of it."""

    process: asyncio.subprocess.Process
    mock: MockLLM
    target: HttpTarget


@asynccontextmanager
async def running() -> AsyncIterator[Running]:
    port = free_port()
    async with MockLLM() as mock:
        command = [sys.executable, "-m", "uvicorn", "--app-dir", str(FOLDER), "agent:app", "--port", str(port)]
        process = await asyncio.create_subprocess_exec(
            *command, "--log-level", "error", env={**os.environ, "MODEL_URL": mock.base_url}
        )
        target = HttpTarget(load_profile(FOLDER / "profile.yaml", {"AGENT_URL": f"http://127.0.0.1:{port}"}))
        try:
            await _ready(target)
            yield Running(process, mock, target)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _ready(target: HttpTarget) -> None:
    for _ in range(1200):
        try:
            return await target.probe()
        except TargetError:
            await asyncio.sleep(0.05)
    raise AssertionError("the example did not start")


def test_the_reply_is_clean_and_the_prompt_of_one_tenant_holds_the_others_words() -> None:
    async def run() -> None:
        async with running() as agent:
            ann, bob = await agent.target.connect(ANN), await agent.target.connect(BOB)
            outcomes = [
                await ann.invoke(a_call(text="ann orders a violet kettle")),
                await bob.invoke(a_call(caller=BOB, text="bob asks for his order")),
            ]
            assert [outcome.value for outcome in outcomes] == ["ok", "ok"]
            first, second = (exchange.body.decode() for exchange in agent.mock.wiretap.exchanges())
            assert "bob" not in first
            assert "violet kettle" in second
            await ann.aclose()
            await bob.aclose()

    asyncio.run(run())


def test_an_agent_that_is_killed_takes_no_more_calls() -> None:
    async def run() -> None:
        async with running() as agent:
            client = await agent.target.connect(ANN)
            assert (await client.invoke(a_call())).status == "ok"
            agent.process.kill()
            await agent.process.wait()
            with contextlib.suppress(Unreachable):
                await client.invoke(a_call())  # the kept connection may still look open for this one
            with pytest.raises(Unreachable):
                await client.invoke(a_call())
            await client.aclose()

    asyncio.run(run())


def test_the_example_is_as_short_as_it_says() -> None:
    assert len((FOLDER / "agent.py").read_text("utf-8").splitlines()) <= 40
