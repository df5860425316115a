"""The middleware: what passes is untouched, what leaks is found, and nothing in here reaches the application."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from partywall.canaries import UsageError
from partywall.harness.online import Limits, Middleware, PartywallMiddleware, ScopeFrom, Settings
from partywall.harness.online.worker import OFF

from .marked import ACME, KEY, ZETA, stored, token

Message = dict[str, Any]
HEADERS = [(b"x-tenant-id", b"acme"), (b"x-user-id", b"ann"), (b"x-session-id", b"s1"), (b"x-request-id", b"r-1")]
JSON = [(b"content-type", b"application/json")]
QUICK = Limits(interval=0.005, pause=0.2, hang=0.3)


def app(*bodies: bytes, headers: list[tuple[bytes, bytes]] = JSON, status: int = 200) -> Any:
    """An application that reads the request and answers in these pieces."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for body in bodies:
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    return answer


def watched(inner: Any, findings: Path, *, limits: Limits = QUICK, **more: Any) -> PartywallMiddleware:
    settings = Settings(KEY, rate=more.pop("rate", 0.0), budget=1.0)
    return PartywallMiddleware(inner, Middleware(settings, findings, limits=limits, **more))


def call(
    served: Any,
    body: bytes = b"",
    headers: list[tuple[bytes, bytes]] = HEADERS,
    state: Message | None = None,
    query: bytes = b"",
) -> list[Message]:
    """One request; the messages that went out."""
    out: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        out.append(message)

    scope: Message = {"type": "http", "method": "POST", "path": "/", "query_string": query, "headers": headers}
    if state is not None:
        scope["state"] = state
    asyncio.run(served(scope, receive, send))
    return out


def reply(text: str) -> bytes:
    return json.dumps({"reply": text}).encode()


def until(true: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.005)
    return true()


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


def test_every_message_passes_as_the_same_object_and_before_it_is_looked_at(tmp_path: Path) -> None:
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


def raising(batch: Any) -> None:
    raise RuntimeError("checker")


def hanging(batch: Any) -> None:
    time.sleep(3600)


def eating(batch: Any) -> None:
    raise MemoryError


@pytest.mark.parametrize("broken", [raising, hanging, eating])
def test_a_broken_checker_changes_no_byte_and_delays_none(
    tmp_path: Path, broken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = app(reply("one"), reply("two"))
    served = watched(inner, tmp_path / "f", limits=Limits(queue=20, interval=0.002, errors=3, pause=30, hang=0.1))
    monkeypatch.setattr(served._service._checker, "check", broken)
    plain = call(inner)
    took = []
    for _ in range(100):
        began = time.perf_counter()
        assert call(served) == plain
        took.append(time.perf_counter() - began)
        time.sleep(0.001)
    assert sorted(took)[50] < 0.05
    assert until(lambda: not served.worker.enabled)
    before = served.worker.depth
    call(served)
    assert served.worker.depth <= before, "nothing is copied any more"
    assert served.worker.depth <= 20


def test_a_breaker_closes_again_when_the_checker_has_recovered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = watched(app(reply(token(ZETA))), tmp_path / "f", limits=Limits(interval=0.005, errors=2, pause=0.1))
    with monkeypatch.context() as patched:
        patched.setattr(served._service._checker, "check", raising)
        call(served)
        assert until(lambda: not served.worker.enabled)
    assert served.total.errors >= 2
    assert until(lambda: served.worker.enabled)
    call(served)
    served.close()
    assert len(stored(tmp_path / "f")) == 1


def test_one_record_that_breaks_the_checker_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = watched(app(reply(token(ZETA))), tmp_path / "f", limits=Limits(interval=0.2))
    check = served._service._checker.check

    def picky(batch: Any) -> Any:
        if any(passed.record.trace == "bad" for passed in batch):
            raise RuntimeError
        return check(batch)

    monkeypatch.setattr(served._service._checker, "check", picky)
    monkeypatch.setattr(served._service._checker, "selftest", lambda: True)
    for trace in (b"r1", b"bad", b"r2"):
        call(served, headers=[*HEADERS[:3], (b"x-request-id", trace)])
    served.close()
    assert [one["trace"] for one in stored(tmp_path / "f")] == ["r1", "r2"]
    assert served.total.skipped["error"] == 1


def test_a_full_queue_drops_the_newest_and_counts_them(tmp_path: Path) -> None:
    served = watched(app(reply("x")), tmp_path / "f", limits=Limits(queue=3, interval=60))
    for _ in range(10):
        call(served)
    assert served.worker.depth == 3
    assert served.total.skipped["dropped"] == 7


def test_a_full_disk_loses_no_finding_and_counts_none_before_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = watched(app(reply(token(ZETA))), tmp_path / "f", limits=Limits(interval=0.005, errors=1, pause=0.05))
    store = served._service._findings.store

    def full(found: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(served._service._findings, "store", full)
    call(served)
    assert until(lambda: served.total.errors > 0)
    assert not served.total.violations
    monkeypatch.setattr(served._service._findings, "store", store)
    assert until(lambda: served.total.violations["PW101"] == 1)
    assert len(stored(tmp_path / "f")) == 1


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
