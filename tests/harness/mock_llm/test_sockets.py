"""Raw sockets: what a client may do on the wire, and what the server must survive."""

from __future__ import annotations

import asyncio
import json
import socket
import struct

import pytest
from partywall.canaries import UsageError
from partywall.harness.mock_llm import Limits, MockLLM, serve

_BODY = json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode()
_HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"
_WHOLE = _HEAD + b"content-length: %d\r\n\r\n" % len(_BODY) + _BODY


async def _exchange(mock: MockLLM, *parts: bytes, pause: float = 0.01, end: bool = True) -> bytes:
    """All that comes back for `parts`, sent one after the other, and the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", mock.port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        if end:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(), 5)
    finally:
        writer.close()


async def _alive(mock: MockLLM) -> bool:
    return (await _exchange(mock, _WHOLE)).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_chunked_body_in_many_pieces_is_one_prompt() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            chunks = b"".join(b"%x;ext=1\r\n%b\r\n" % (1, _BODY[at : at + 1]) for at in range(len(_BODY)))
            request = _HEAD + b"transfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\nx-trailer: 1\r\n\r\n"
            answer = await _exchange(mock, *(request[at : at + 7] for at in range(0, len(request), 7)), pause=0)
            assert answer.startswith(b"HTTP/1.1 200 OK")
            assert mock.wiretap.exchanges()[0].body == _BODY

    asyncio.run(run())


def test_a_client_that_asks_first_is_told_to_continue() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            head = _HEAD + b"Expect: 100-Continue\r\ncontent-length: %d\r\n\r\n" % len(_BODY)
            reader, writer = await asyncio.open_connection("127.0.0.1", mock.port)
            writer.write(head)
            assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 2) == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(_BODY)
            assert (await asyncio.wait_for(reader.readline(), 2)) == b"HTTP/1.1 200 OK\r\n"
            writer.close()

    asyncio.run(run())


def test_pipelined_requests_are_answered_in_order() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            bodies = [_BODY.replace(b"hi", b"question-%d" % number) for number in range(20)]
            requests = [_HEAD + b"content-length: %d\r\n\r\n" % len(body) + body for body in bodies]
            answer = await _exchange(mock, b"".join(requests))
            places = [answer.index(b'> question-%d"' % n) for n in range(20)]
            assert places == sorted(places)
            assert answer.count(b"HTTP/1.1 200 OK") == 20
            assert [exchange.body for exchange in mock.wiretap.exchanges()] == bodies

    asyncio.run(run())


def test_too_many_requests_behind_a_slow_one_are_kept_and_cut_off_loudly() -> None:
    async def run() -> None:
        async with MockLLM(fault="timeout", limits=Limits(pipelined=3)) as mock:
            assert await _exchange(mock, _WHOLE, _WHOLE * 3, _WHOLE, end=False) == b""
            assert mock.wiretap.limits_hit == 1
            assert [exchange.closed_first for exchange in mock.wiretap.exchanges()] == ["server"] * 5

    asyncio.run(run())


def test_what_follows_a_last_request_is_not_answered() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            last = _WHOLE.replace(b"host: x", b"connection: close")
            answer = await _exchange(mock, last + b"junk", end=False)
            assert answer.count(b"HTTP/1.1") == 1

    asyncio.run(run())


def test_a_client_of_http_1_0_gets_a_stream_that_ends_with_the_connection() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            body = _BODY.replace(b'{"m', b'{"stream": true, "m', 1)
            head = _HEAD.replace(b"1.1", b"1.0") + b"connection: keep-alive\r\n"
            answer = await _exchange(mock, head + b"content-length: %d\r\n\r\n" % len(body) + body, end=False)
            assert b"chunked" not in answer
            assert b"connection: close" in answer
            assert answer.endswith(b"data: [DONE]\n\n")
            [exchange] = mock.wiretap.exchanges()
            assert exchange.closed_first == "server"

    asyncio.run(run())


def test_connection_close_is_obeyed() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            answer = await _exchange(mock, _WHOLE.replace(b"host: x", b"connection: close"), end=False)
            assert answer.count(b"connection: close") == 1

    asyncio.run(run())


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00\xff\x17\x03\x01" * 100,
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /v1/chat/completions HTTP/9.9\r\n\r\n",
        _HEAD + b"content-length: -5\r\n\r\n",
        _HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        _HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        _HEAD + b"authorization: Bearer sk-secret\r\nbad header\r\n\r\n",
        b"\r\n" * 50 + b"!",
    ],
)
def test_garbage_is_answered_400_kept_and_survived(garbage: bytes) -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            answer = await _exchange(mock, garbage)
            assert answer.startswith(b"HTTP/1.1 400 ")
            [exchange] = mock.wiretap.exchanges()
            assert not exchange.complete
            assert exchange.body
            assert b"sk-secret" not in exchange.body
            assert "sk-secret" not in repr(exchange.headers)
            assert await _alive(mock)

    asyncio.run(run())


@pytest.mark.parametrize("cut", [5, 40, len(_WHOLE) - 1])
@pytest.mark.parametrize("how", ["fin", "rst"])
def test_half_a_request_is_kept_and_survived(cut: int, how: str) -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            sock = socket.create_connection(("127.0.0.1", mock.port))
            sock.sendall(_WHOLE[:cut])
            await asyncio.sleep(0.02)
            if how == "rst":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()
            [exchange] = await mock.wiretap.wait_for(1, 2)
            assert not exchange.complete
            if cut > len(_WHOLE) - len(_BODY):
                assert exchange.body == _BODY[:-1]
            assert await _alive(mock)

    asyncio.run(run())


def test_a_huge_head_is_refused_loudly() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            assert (await _exchange(mock, _WHOLE.replace(b"host: x", b"x-big: " + b"y" * 200_000))).startswith(
                b"HTTP/1.1 200 "
            )
            assert mock.wiretap.limits_hit == 0
            answer = await _exchange(mock, _HEAD + b"x-huge: " + b"y" * 1_500_000, end=False)
            assert answer.startswith(b"HTTP/1.1 431 ")
            assert mock.wiretap.limits_hit == 1
            assert await _alive(mock)

    asyncio.run(run())


@pytest.mark.parametrize("framing", ["length", "chunked", "expect"])
def test_a_body_over_the_limit_is_refused_loudly_and_its_start_is_kept(framing: str) -> None:
    async def run() -> None:
        async with MockLLM(limits=Limits(body=1000)) as mock:
            if framing == "expect":
                answer = await _exchange(
                    mock, _HEAD + b"expect: 100-continue\r\ncontent-length: 2000\r\n\r\n", end=False
                )
                assert b"100 Continue" not in answer
            elif framing == "length":
                answer = await _exchange(
                    mock, _HEAD + b"content-length: 2000\r\n\r\n", b"a" * 900, b"b" * 300, end=False
                )
                assert mock.wiretap.exchanges()[0].body == b"a" * 900
            else:
                chunk = b"384\r\n" + b"a" * 900 + b"\r\n"
                answer = await _exchange(mock, _HEAD + b"transfer-encoding: chunked\r\n\r\n", chunk, chunk, end=False)
                assert mock.wiretap.exchanges()[0].body == b"a" * 900
            assert answer.startswith(b"HTTP/1.1 413 ")
            assert mock.wiretap.limits_hit == 1
            assert not mock.wiretap.exchanges()[0].complete
            assert await _alive(mock)

    asyncio.run(run())


def test_a_stopped_server_leaves_no_task_no_socket_and_no_port() -> None:
    async def run() -> None:
        before = asyncio.all_tasks()
        mock = MockLLM(fault="timeout")
        await mock.start()
        port = mock.port
        readers = []
        for request in (_WHOLE, _WHOLE[:30], b""):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            readers.append((reader, writer))
        await mock.wiretap.wait_for(1, 2)
        await asyncio.wait_for(mock.stop(), 3)
        for reader, writer in readers:
            assert await asyncio.wait_for(reader.read(), 1) == b""
            writer.close()
            await writer.wait_closed()
        assert asyncio.all_tasks() == before
        assert not mock._connections
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        await mock.stop()
        again = MockLLM()
        await again.start(port=port)
        assert await _alive(again)
        await again.stop()

    asyncio.run(run())


def test_a_client_that_never_reads_cannot_hold_up_the_stop() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            sock = socket.create_connection(("127.0.0.1", mock.port))
            sock.setblocking(False)
            body = json.dumps({"messages": [{"role": "user", "content": "w" * 60_000}]}).encode()
            request = _HEAD + b"content-length: %d\r\n\r\n" % len(body) + body
            loop = asyncio.get_running_loop()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(loop.sock_sendall(sock, request * 400), 1)
            assert await _alive(mock)
            started = loop.time()
            await mock.stop()
            assert loop.time() - started < 2.5
            undelivered = [exchange for exchange in mock.wiretap.exchanges() if not exchange.delivered]
            assert undelivered
            sock.close()

    asyncio.run(run())


def test_a_port_that_is_taken_is_the_callers_mistake() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            other = MockLLM()
            with pytest.raises(UsageError, match=f"port {mock.port} on '127.0.0.1' is taken"):
                await other.start(port=mock.port)
            with pytest.raises(UsageError, match="0 to 65535"):
                await other.start(port=70_000)
            with pytest.raises(UsageError, match="already listening"):
                await mock.start()
            with pytest.raises(UsageError, match="before it is started"):
                _ = other.base_url

    asyncio.run(run())


def test_serving_prints_one_ready_line_and_ends_when_cancelled(capsys: pytest.CaptureFixture[str]) -> None:
    async def run() -> int:
        task = asyncio.create_task(serve(0, seed=3))
        line = ""
        while not line:
            await asyncio.sleep(0.01)
            line = capsys.readouterr().out
        port = int(line.split("127.0.0.1:")[1].split("/v1")[0])
        assert line == f"mock-llm ready on http://127.0.0.1:{port}/v1 (seed 3, fault steady)\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await reader.read() == b""
        writer.close()
        return port

    port = asyncio.run(run())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
