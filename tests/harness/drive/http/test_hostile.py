"""Servers that misbehave on a real socket: every end is an outcome, soon, and the next call goes on."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from partywall.harness.drive.http import HttpTarget
from partywall.harness.observe.history import Header, Seen
from partywall.harness.observe.outcome import Outcome
from partywall.harness.observe.recorder import Recorder
from partywall.harness.plan.capabilities import Capabilities
from partywall.harness.plan.contract import LimitHit
from partywall.harness.plan.trial import Trial

from .profiles import ANN, BOB, HOME, a_call, asked, small
from .wire import Answer, Received, Server, always, whole

# Timeouts that are no test's subject are long: the machine may be busy.
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


async def drip(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"transfer-encoding: chunked\r\n\r\n")
    for _number in range(200):
        writer.write(b"1\r\nx\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)


async def silent(_: Received, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(10)


async def slow_but_whole(_: Received, writer: asyncio.StreamWriter) -> None:
    for piece in (whole()[:10], whole()[10:40], whole()[40:]):
        writer.write(piece)
        await asyncio.sleep(0.05)


async def close_at_once(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def close_early(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b'content-length: 500\r\n\r\n{"reply": "half')
    writer.close()


async def reset(_: Received, writer: asyncio.StreamWriter) -> None:
    kept: socket.socket = writer.get_extra_info("socket")
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def last(answer: Answer, timeout: float = 60.0) -> Outcome:
    async def run() -> Outcome:
        async with Server(answer) as server:
            [outcome] = await asked(small(url=server.url), replace(a_call(), timeout=timeout))
            assert len(server.requests) == 1, "a call is never repeated"
            return outcome

    return asyncio.run(run())


ENDS: dict[str, tuple[Answer, str, str]] = {
    "500 in HTML": (always(whole("<h1>boom</h1>", "500 Oh", kind="text/html")), "http_500", "HTTP 500: <h1>boom</h1>"),
    "never ends": (drip, "timeout", "no answer within 1 s"),
    "never begins": (silent, "timeout", "no answer within 1 s"),
    "closes at once": (close_at_once, "disconnected", "RemoteProtocolError: Server disconnected"),
    "closes early": (close_early, "disconnected", "RemoteProtocolError: peer closed connection"),
    "resets": (reset, "disconnected", "ReadError"),
    "no HTTP": (always(b"\x00\xff garbage\r\n\r\n"), "disconnected", "RemoteProtocolError"),
    "no status": (always(b"HTTP/1.1 banana\r\n\r\n"), "disconnected", "RemoteProtocolError"),
    "wrong chunks": (always(HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n"), "disconnected", "RemoteProtocolError"),
    "header without end": (always(HEAD + b"x-a: " + b"a" * 300_000), "disconnected", "RemoteProtocolError"),
    "a broken zip": (
        always(whole(b"no gzip", "200 OK", "content-encoding: gzip")),
        "disconnected",
        "DecodingError",
    ),
    "redirect": (
        always(whole("", "302 Found", "location: /login?next=/turns")),
        "http_302",
        "HTTP 302: location /login?next=/turns",
    ),
    "redirect to nowhere": (
        always(whole("", "301 Gone", "location: http://[")),
        "http_301",
        "HTTP 301: location http://[",
    ),
    "a page where JSON was meant": (
        always(whole("<html>", kind="text/html")),
        "unreadable",
        "HTTP 200: the answer is no",
    ),
    "an endless number": (
        always(whole('{"reply": ' + "9" * 5000 + "}")),
        "unreadable",
        "HTTP 200: the answer is no JSON",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_bad_answer_is_an_outcome_that_nobody_knows(name: str) -> None:
    answer, code, reason = ENDS[name]
    began = time.monotonic()
    outcome = last(answer, timeout=1.0 if code == "timeout" else 60.0)
    assert (outcome.status, outcome.code) == ("info", code)
    assert outcome.reason.startswith(reason)
    assert time.monotonic() - began < 9


def test_a_slow_answer_that_is_whole_in_time_is_an_answer() -> None:
    assert last(slow_but_whole) == Outcome("ok", "ok")


@pytest.mark.parametrize("zipped", [False, True])
def test_an_answer_without_end_hits_a_limit(zipped: bool) -> None:
    piece = gzip.compress(b" " * 20_000_000) if zipped else b" " * 65_536

    async def flood(_: Received, writer: asyncio.StreamWriter) -> None:
        more = b"content-encoding: gzip\r\n" if zipped else b""
        writer.write(HEAD + more + b"content-length: 100000000\r\n\r\n")
        for _number in range(1 if zipped else 1600):
            writer.write(piece)
            await writer.drain()

    with pytest.raises(LimitHit, match=r"larger than 8,000,000 bytes"):
        last(flood)


def test_a_nest_that_json_can_read_is_still_too_deep_for_the_seam() -> None:
    with pytest.raises(LimitHit, match="deeper than 32"):
        asyncio.run(
            nested('{"reply": ["x"], "a": 1}', 'operations: {run_turn: {request: {path: /t}, response: {value: ""}}}')
        )


async def nested(_: str, operations: str) -> None:
    async with Server(always(whole("[" * 40 + "]" * 40))) as server:
        await asked(small(url=server.url, operations=operations), a_call())


def test_many_headers_are_recorded_as_the_callers_own_sight() -> None:
    async def run(recorder: Recorder) -> None:
        answer = whole('{"reply": "ok"}', "200 OK", "x-owner: zeta/bob", "set-cookie: s=1", "x-raw: \xff")
        async with Server(always(answer)) as server:
            target = HttpTarget(small(url=server.url))
            target.observe(recorder)
            client = await target.connect(BOB)
            await client.invoke(replace(a_call(caller=BOB), probe="p7"))
            await client.aclose()

    [seen] = sights(run)
    assert (seen.channel, seen.viewer, seen.probe) == ("headers", ("zeta", "bob", "s1", "k1"), "p7")
    assert seen.text == "x-owner: zeta/bob\nset-cookie: s=1\nx-raw: ÿ"


def test_headers_that_tell_nothing_are_not_recorded() -> None:
    async def run(recorder: Recorder) -> None:
        async with Server() as server:
            target = HttpTarget(small(url=server.url))
            target.observe(recorder)
            client = await target.connect(ANN)
            await client.invoke(a_call())
            await client.aclose()

    assert sights(run) == []


def test_the_part_of_an_error_that_a_reason_has_no_room_for_is_recorded() -> None:
    async def run(recorder: Recorder) -> None:
        async with Server(always(whole("x" * 5000 + "canary", "500 Oh"))) as server:
            target = HttpTarget(small(url=server.url))
            target.observe(recorder)
            client = await target.connect(ANN)
            await client.invoke(a_call())
            await client.aclose()

    [seen] = sights(run)
    assert (seen.channel, seen.viewer) == ("errors", HOME.path)
    assert seen.text.endswith("canary")


def sights(run: Callable[[Recorder], Coroutine[Any, Any, None]]) -> list[Seen]:
    trial = Trial("scenario", "target", "steady", 1, 1)
    recorder = Recorder(Header(trial, Capabilities(frozenset()), (), ""))
    asyncio.run(run(recorder))
    return [entry for entry in recorder.history().entries if isinstance(entry, Seen)]
