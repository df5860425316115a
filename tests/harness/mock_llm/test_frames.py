"""What is done to a connection is what its client sees: RST, FIN, half-close, pause, stall."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest
from partywall.harness.mock_llm import Exchange, MockLLM
from partywall.harness.mock_llm.fault import Fault
from partywall.harness.mock_llm.frames import Fin, Frame, Frames, HalfClose, Reset, Sleep, Stall
from partywall.harness.mock_llm.rules import always

_BODY = b'{"messages": [], "stream": true}'
_REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(_BODY) + _BODY


async def _seen(*frames: Frame, make: Callable[[], Frames] | None = None) -> tuple[bytes, float, Exchange, int]:
    """(bytes read, seconds until the end, the exchange, crashes) of a request answered with `frames`."""
    async with MockLLM() as mock:
        mock._desk.profile = always(Fault("t", "t", "none", frames=lambda plain, case: make() if make else frames))
        reader, writer = await asyncio.open_connection("127.0.0.1", mock.port)
        started = asyncio.get_running_loop().time()
        writer.write(_REQUEST)
        data = b""
        try:
            while piece := await asyncio.wait_for(reader.read(1000), 2):
                data += piece
        except ConnectionResetError:
            data += b"<RST>"
        seconds = asyncio.get_running_loop().time() - started
        writer.close()
        async with asyncio.timeout(5):  # a busy machine may be late to tell that the client left
            while (exchange := mock.wiretap.exchange(1)).closed_first is None:
                await asyncio.sleep(0.01)
        return data, seconds, exchange, mock.wiretap.crashes


def test_a_reset_is_a_reset_and_counts_as_delivered() -> None:
    data, _, exchange, _ = asyncio.run(_seen(b"HTTP/1.1 200 OK\r\n", Sleep(0.02), Reset(), b"never"))
    assert data == b"HTTP/1.1 200 OK\r\n<RST>"
    assert (exchange.closed_first, exchange.answer) == ("server", b"HTTP/1.1 200 OK\r\n")


def test_a_fin_ends_a_body_that_promised_more() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n"
    data, _, exchange, _ = asyncio.run(_seen(head, b"short", Fin(), b"never"))
    assert data == head + b"short"
    assert (exchange.closed_first, exchange.delivered) == ("server", True)


def test_a_half_close_ends_the_answer_and_waits_for_the_client() -> None:
    data, _, exchange, _ = asyncio.run(_seen(b"HTTP/1.1 200 OK\r\n", HalfClose()))
    assert data == b"HTTP/1.1 200 OK\r\n"
    assert (exchange.closed_first, exchange.delivered) == ("client", True)


def test_a_pause_takes_its_time() -> None:
    data, seconds, _, _ = asyncio.run(_seen(b"a", Sleep(0.3), b"b", Fin()))
    assert data == b"ab"
    assert 0.3 <= seconds < 1.5


def test_a_stall_after_some_bytes_holds_the_connection_open() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(_seen(b"a", Stall()), 0.4))


def test_a_fault_that_fails_itself_is_counted_and_resets() -> None:
    def broken() -> Frames:
        yield b"a"
        raise RuntimeError("mine")

    data, _, _, crashes = asyncio.run(_seen(make=broken))
    assert data.endswith(b"<RST>")
    assert crashes == 1


def test_an_answer_counts_as_taken_only_once_the_client_takes_it() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            answer = b"HTTP/1.1 200 OK\r\ncontent-length: 20000000\r\n\r\n" + b"x" * 20_000_000
            mock._desk.profile = always(Fault("t", "t", "none", frames=lambda plain, case: (answer,)))
            reader, writer = await asyncio.open_connection("127.0.0.1", mock.port, limit=1000)
            writer.write(_REQUEST)
            await mock.wiretap.wait_for(1, 2)
            await asyncio.sleep(0.1)
            [before] = mock.wiretap.exchanges()
            await asyncio.wait_for(reader.readexactly(len(answer)), 20)
            await asyncio.sleep(0.05)
            [after] = mock.wiretap.exchanges()
            writer.close()
        assert before.answered == len(answer) > before.written
        assert not before.delivered
        assert after.answered == after.written
        assert after.delivered

    asyncio.run(run())


def test_an_answer_that_the_client_resets_unread_was_not_delivered() -> None:
    async def run() -> None:
        async with MockLLM(fault="exception") as mock:
            sock = socket.create_connection(("127.0.0.1", mock.port))
            sock.sendall(_REQUEST)
            await mock.wiretap.wait_for(1, 2)
            await asyncio.sleep(0.05)
            [before] = mock.wiretap.exchanges()
            sock.close()  # with an unread answer in its buffer the kernel sends RST, not FIN
            await asyncio.sleep(0.05)
            [after] = mock.wiretap.exchanges()
        assert (before.delivered, before.closed_first) == (True, None)
        assert (after.delivered, after.closed_first) == (False, "client")

    asyncio.run(run())


def test_a_request_behind_a_slow_answer_waits_for_it() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            mock._desk.profile = always(Fault("t", "t", "none", frames=lambda plain, case: (Sleep(0.1), *plain)))
            reader, writer = await asyncio.open_connection("127.0.0.1", mock.port)
            writer.write(_REQUEST * 2)
            for _ in range(2):
                await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), 2)
            writer.close()
            first, second = mock.wiretap.exchanges()
        assert first.received is not None
        assert second.answered_at is not None
        assert second.answered_at - first.received >= 0.2

    asyncio.run(run())
