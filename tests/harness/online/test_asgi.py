"""The middleware: what passes is untouched, what leaks is found, and nothing in here reaches the application."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from partywall.canaries import UsageError
from partywall.harness.online import Limits, Middleware, PartywallMiddleware, ScopeFrom, Settings
from partywall.harness.online.worker import OFF

from .marked import ACME, ZETA, stored, token
from .served import JSON, Message, app, call, reply, until, watched


def test_a_foreign_canary_in_a_reply_is_found_and_the_own_one_is_not(tmp_path: Path) -> None:
    served = watched(app(reply(token(ACME)), reply(token(ZETA))), tmp_path / "f")
    call(served)
    served.close()
    (finding,) = stored(tmp_path / "f")
    assert (finding["code"], finding["trace"], finding["channel"]) == ("PW101", "r-1", "reply")
    assert served.total.violations == {"PW101": 1}
    assert served.total.selftest_at > 0


def test_what_the_request_brought_in_is_imported(tmp_path: Path) -> None:
    served = watched(app(reply(token(ZETA))), tmp_path / "f")
    call(served, json.dumps({"ask": token(ZETA)}).encode())
    call(served, query=b"q=" + token(ZETA).encode())
    served.close()
    assert served.total.canaries["imported"] == 2
    assert not stored(tmp_path / "f")


def test_the_state_of_an_authenticating_middleware_goes_before_a_header(tmp_path: Path) -> None:
    served = watched(app(reply(token(ZETA))), tmp_path / "f")
    call(served, state={"tenant": "zeta", "user": "bob", "session": "s9"})
    call(served, headers=[])
    served.close()
    assert not stored(tmp_path / "f")
    assert served.total.skipped["unattributed"] == 1


def test_scope_may_be_taken_from_the_body(tmp_path: Path) -> None:
    served = watched(app(reply(token(ZETA))), tmp_path / "f", scope_from=ScopeFrom(tenant=("body:/who/tenant",)))
    call(served, b'{"who": {"tenant": "acme"}}')
    served.close()
    assert [one["code"] for one in stored(tmp_path / "f")] == ["PW101"]


def test_a_stream_is_put_together_before_it_is_scanned(tmp_path: Path) -> None:
    pieces = [token(ZETA)[at : at + 3] for at in range(0, 29, 3)]
    events = [
        f"data: {json.dumps({'choices': [{'index': n, 'delta': {'content': text}}]})}\n\n".encode()
        for piece in pieces
        for n, text in enumerate((piece, "and"))
    ]
    served = watched(
        app(*events, b"data: [DONE]\n\n", headers=[(b"content-type", b"text/event-stream")]), tmp_path / "f"
    )
    assert b"".join(one.get("body", b"") for one in call(served)) == b"".join(events) + b"data: [DONE]\n\n"
    served.close()
    assert [one["code"] for one in stored(tmp_path / "f")] == ["PW101"]


@pytest.mark.parametrize(
    ("headers", "body", "reason"),
    [
        ([(b"content-type", b"image/png")], token(ZETA).encode(), "binary"),
        ([(b"content-encoding", b"br"), *JSON], b"\x0b\x02", "encoded"),
        ([(b"content-encoding", b"gzip"), *JSON], b"no gzip", "encoded"),
        (JSON, b"x" * 5000, "too_long"),
    ],
)
def test_what_cannot_be_read_is_counted(tmp_path: Path, headers: Any, body: bytes, reason: str) -> None:
    served = watched(app(body, headers=headers), tmp_path / "f", cap=4096)
    call(served)
    served.close()
    assert served.total.skipped[reason] == 1
    assert not served.total.errors


def test_a_compressed_reply_is_read(tmp_path: Path) -> None:
    headers = [(b"content-encoding", b"gzip"), *JSON]
    served = watched(app(gzip.compress(reply(token(ZETA))), headers=headers), tmp_path / "f")
    call(served)
    served.close()
    assert len(stored(tmp_path / "f")) == 1


def test_a_bomb_inflates_no_further_than_the_cap(tmp_path: Path) -> None:
    headers = [(b"content-encoding", b"gzip"), *JSON]
    served = watched(app(gzip.compress(b"x" * 50_000_000), headers=headers), tmp_path / "f")
    call(served)
    served.close()
    assert served.total.skipped["too_long"] == 1


def test_every_message_passes_as_the_same_object(tmp_path: Path) -> None:
    sent: list[Message] = [
        {"type": "http.response.start", "status": 200, "headers": []},
        {"type": "http.response.body", "body": bytearray(b"one"), "more_body": True},
        {"type": "http.response.body", "body": b"two"},
        {"type": "http.response.debug", "info": {}},
    ]

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        for message in sent:
            await send(message)

    out = call(watched(inner, tmp_path / "f"))
    assert [id(one) for one in out] == [id(one) for one in sent]


@pytest.mark.parametrize("kind", ["lifespan", "websocket", "something.new"])
def test_other_connections_get_the_servers_own_callables(tmp_path: Path, kind: str) -> None:
    got: list[Any] = []

    async def inner(*arguments: Any) -> None:
        got.extend(arguments)

    async def receive() -> Any:
        return {}

    async def send(message: Any) -> None: ...

    scope: Any = {"type": kind}
    asyncio.run(watched(inner, tmp_path / "f")(scope, receive, send))
    assert got == [scope, receive, send]


@pytest.mark.parametrize("error", [ValueError("mine"), asyncio.CancelledError(), KeyError("type")])
def test_an_error_of_the_application_passes_unchanged(tmp_path: Path, error: BaseException) -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": JSON})
        await send({"type": "http.response.body", "body": reply(token(ZETA)), "more_body": True})
        raise error

    served = watched(inner, tmp_path / "f")
    with pytest.raises(type(error)) as raised:
        call(served)
    assert raised.value is error or isinstance(error, asyncio.CancelledError)
    served.close()
    assert len(stored(tmp_path / "f")) == 1, "what was shown before the error is judged"


@pytest.mark.parametrize(
    "message", [{}, {"type": "http.response.start", "headers": 7}, {"type": "http.response.body", "body": 7}]
)
def test_a_message_that_no_server_would_take_reaches_the_server_and_harms_nobody(tmp_path: Path, message: Any) -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await send(message)

    served = watched(inner, tmp_path / "f")
    assert call(served) == [message]
    served.close()
    assert served.total.errors or served.total.seen


def test_a_full_queue_drops_the_newest_and_counts_them(tmp_path: Path) -> None:
    served = watched(app(reply("x")), tmp_path / "f", limits=Limits(queue=3, interval=60))
    for _ in range(10):
        call(served)
    assert served.worker.depth == 3
    assert served.total.skipped["dropped"] == 7


def test_the_kill_switches_stop_all_copying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    off = tmp_path / "off"
    served = watched(app(reply(token(ZETA))), tmp_path / "f", limits=Limits(interval=0.005, off_file=off))
    off.touch()
    served.worker.wake()
    assert until(lambda: not served.worker.enabled)
    call(served)
    off.unlink()
    assert until(lambda: served.worker.enabled)
    monkeypatch.setenv(OFF, "1")
    assert until(lambda: not served.worker.enabled)
    call(served)
    monkeypatch.setenv(OFF, "0")
    assert until(lambda: served.worker.enabled)
    call(served)
    served.close()
    assert len(stored(tmp_path / "f")) == 1


def test_the_end_of_the_lifespan_checks_what_still_waits(tmp_path: Path) -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await app(reply(token(ZETA)))(scope, receive, send)

    served = watched(inner, tmp_path / "f", limits=Limits(interval=60))
    call(served)
    asyncio.run(served({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert len(stored(tmp_path / "f")) == 1


def test_a_configuration_that_cannot_work_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write findings"):
        watched(app(), tmp_path / "no" / "f")
    with pytest.raises(UsageError, match="32 bytes"):
        PartywallMiddleware(app(), Middleware(Settings(b"short"), tmp_path / "f"))
    for wrong in (("cookie:x",), ("header:",), "header:x"):
        with pytest.raises(UsageError, match="tenant cannot be taken"):
            ScopeFrom(tenant=wrong)  # type: ignore[arg-type]
