"""A target that is gone ends the run: nothing was sent, nothing is concluded, exit code 3."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from partywall.canaries import DEFAULT_PREFIX, Keyring
from partywall.harness.drive.driver import Limits, Report, drive
from partywall.harness.drive.http import HttpTarget
from partywall.harness.drive.resolve import kind_of
from partywall.harness.drive.target import TargetSettings
from partywall.harness.errors import TargetError, Unreachable
from partywall.harness.exits import Exit, exit_of
from partywall.harness.observe.history import Header, History
from partywall.harness.observe.outcome import UNSENT
from partywall.harness.observe.recorder import Recorder
from partywall.harness.plan import Call, Phase, Probe, Schedule, Trial
from partywall.harness.run import RunPlan, verify

from .profiles import HEAD, RUN_TURN, a_call, asked, small
from .wire import Received, Server, whole


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


async def driven(target: HttpTarget, calls: int) -> tuple[History, Report]:
    recorder = Recorder(
        Header(
            Trial("test", "test"), target.capabilities, (Keyring.derive(b"k" * 32, "t").to_record(),), DEFAULT_PREFIX
        )
    )
    probes = [Probe(f"p{number}", "ann", a_call()) for number in range(calls)]
    report = await drive(Schedule((Phase.of(probes),)), target, recorder, Limits(call_timeout=60.0))
    return recorder.history(), report


def dying(after: int) -> Server:
    """A server that answers so many calls and then is gone."""

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(whole())
        if len(server.requests) == after:
            await writer.drain()
            await server.stop()

    server = Server(answer)
    return server


def test_a_call_that_finds_no_connection_was_surely_not_sent() -> None:
    with pytest.raises(Unreachable, match=r"no connection to http://127\.0\.0\.1:"):
        asyncio.run(asked(small(url=f"http://127.0.0.1:{free_port()}"), a_call()))


@pytest.mark.parametrize(("calls", "sent"), [(20, 5), (2, 2)])
def test_the_driver_stops_where_no_connection_can_be_made(calls: int, sent: int) -> None:
    history, report = asyncio.run(driven(HttpTarget(small(url=f"http://127.0.0.1:{free_port()}")), calls))
    assert "took no connection" in report.stopped
    outcomes = [completed.outcome for completed in history.completions.values()]
    assert [(outcome.status, outcome.code) for outcome in outcomes] == [("fail", UNSENT)] * sent
    assert len(history.limits) == calls - sent


def test_an_agent_that_dies_ends_the_run_even_where_few_calls_were_left() -> None:
    async def run() -> None:
        async with dying(after=3) as server:
            history, report = await driven(HttpTarget(small(url=server.url)), 5)
            statuses = [history.outcome(f"p{number}").status for number in range(5)]
            assert statuses[:3] == ["ok"] * 3
            assert history.outcome("p4").code == UNSENT
            assert report.stopped == "the target took no connection for the last call"

    asyncio.run(run())


def test_a_target_that_comes_back_is_not_gone() -> None:
    port = free_port()
    server = Server(port=port)

    class Late(HttpTarget):
        async def before(self, call: Call) -> Call:
            if call.probe == "p4":
                await server.__aenter__()
            return call

    async def run() -> None:
        history, report = await driven(Late(small(url=f"http://127.0.0.1:{port}")), 6)
        await server.stop()
        assert [history.outcome(f"p{number}").status for number in range(6)] == ["fail"] * 4 + ["ok"] * 2
        assert report.stopped == ""

    asyncio.run(run())


def test_a_call_that_could_not_be_expressed_is_no_sign_of_a_target_that_is_gone() -> None:
    async def run() -> None:
        async with Server() as server:
            target = HttpTarget(
                small('identities: {"*": {auth: {type: bearer, token: "a\\nb{{identity.user}}"}}}', url=server.url)
            )
            history, report = await driven(target, 8)
            assert {completed.outcome.code for completed in history.completions.values()} == {UNSENT}
            assert report.stopped == ""

    asyncio.run(run())


def test_silence_within_the_profiles_own_timeout_stops_the_driver_too() -> None:
    async def silent(_: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)

    async def run() -> None:
        async with Server(silent) as server:
            _, report = await driven(HttpTarget(small("defaults: {timeout: 0.1}", url=server.url)), 9)
            assert report.stopped == "the target left 5 calls in a row unanswered"

    asyncio.run(run())


def test_a_target_that_nobody_serves_does_not_open(tmp_path: Path) -> None:
    path = tmp_path / "gone.yaml"
    path.write_text(HEAD.replace("{url}", f"http://127.0.0.1:{free_port()}") + RUN_TURN)
    with pytest.raises(TargetError, match=r"target 'small' cannot be reached at http://127\.0\.0\.1:"):
        asyncio.run(_opened(str(path)))
    result = asyncio.run(verify(RunPlan(str(path), ("foreign_word",))))
    assert exit_of(result.status, problems=result.problems, failures=result.failures) is Exit.LOST


async def _opened(spec: str) -> None:
    await kind_of(spec).open(spec, TargetSettings())
