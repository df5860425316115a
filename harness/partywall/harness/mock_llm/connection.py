"""Connection: HTTP/1.1 on one socket, down to the byte, so that it can also be broken down to the byte.

An `asyncio.Protocol` on `httptools`: a reset, a stall or a drip cannot be said through ASGI.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import Protocol, cast

import httptools

from .document import Document
from .exchange import Closer
from .frames import Fin, Frames, HalfClose, Reset, Sleep, Stall, joined
from .wiretap import Record, Wiretap

_log = logging.getLogger(__name__)
_RST = struct.pack("ii", 1, 0)
_LINGER = 1.0
"""Seconds a client that is still sending gets to read why it was refused."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may send: bytes of a body, bytes of a head, requests pipelined behind a slow one."""

    body: int = 64 * 1024 * 1024
    head: int = 1024 * 1024
    pipelined: int = 128


class Desk(Protocol):
    """Where a request is answered."""

    def answer(self, record: Record, *, keep_alive: bool, chunked: bool) -> bytes | Frames: ...

    def refuse(self, record: Record, status: int, message: str) -> Document: ...


class Connection(asyncio.Protocol):
    """One client's socket; every request on it becomes a record in the wiretap, whole or not."""

    def __init__(self, number: int, desk: Desk, wiretap: Wiretap, limits: Limits, connections: set[Connection]) -> None:
        self._number = number
        self._desk = desk
        self._wiretap = wiretap
        self._limits = limits
        self._connections = connections
        self._parser = httptools.HttpRequestParser(self)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._peer_port = 0
        self._record: Record | None = None
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._body_size = self._head_size = 0
        self._in_head = True
        self._too_large = False
        self._ready: deque[tuple[Record, bool, bool]] = deque()
        self._last: Record | None = None
        self._unsent: list[Record] = []
        self._player: asyncio.Task[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._left: asyncio.Future[None] | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._paused = self._eof = self._closing = False
        self.lost = self._loop.create_future()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        # Any unsent byte pauses us, the last one sent resumes us: that tells when the kernel took an answer.
        self._transport.set_write_buffer_limits(high=0)
        peer = transport.get_extra_info("peername")
        self._peer_port = peer[1] if isinstance(peer, tuple) else 0
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        if self._in_head:
            self._head_size += len(data)
        malformed = False
        rest = data
        while rest:
            try:
                self._parser.feed_data(rest)
                break
            except httptools.HttpParserUpgrade as upgrade:
                # No upgrade is offered; what follows is the next request in HTTP/1.1.
                rest = rest[upgrade.args[0] :]
            except httptools.HttpParserError:
                malformed = True
                break
        if self._player is None and self._ready:
            self._serve()
        if self._closing:
            return
        if malformed:
            self._malformed(data)
        elif self._too_large:
            self._refuse(413, f"request body is larger than {self._limits.body} bytes")
        elif self._in_head and self._head_size > self._limits.head:
            self._refuse(431, f"request head is larger than {self._limits.head} bytes")
        elif len(self._ready) > self._limits.pipelined:
            self._wiretap.limits_hit += 1
            _log.error("limit hit on connection %d: more requests wait than may", self._number)
            self._close()

    def eof_received(self) -> bool:
        self._eof = True
        if self._left is not None and not self._left.done():
            self._left.set_result(None)
        return self._player is not None or self._paused

    def pause_writing(self) -> None:
        self._paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        for record in self._unsent:
            record.written = record.answered
        self._unsent.clear()
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        if not self._transport.is_closing():
            self._transport.resume_reading()
            if self._eof and self._player is None:
                self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        closer: Closer = "server" if self._closing else "client"
        self._closing = True
        if self._record is not None:
            self._record.body = b"".join(self._body)
            self._wiretap.add(self._record)
            self._end_of(self._record, closer)
        if self._linger is not None:
            self._linger.cancel()
        for future in (self._left, self._drained):
            if future is not None and not future.done():
                future.set_result(None)
        if self._player is not None:
            self._player.cancel()
        if self._last is not None:
            self._last.reset = exc is not None and closer == "client"
            self._end_of(self._last, closer)
        for record, _, _ in self._ready:
            self._end_of(record, closer)
        self._ready.clear()
        del self._parser
        self.lost.set_result(None)

    # httptools

    def on_message_begin(self) -> None:
        self._record = record = Record(self._number, self._peer_port)
        self._headers = record.headers
        self._url = b""
        self._body = []
        self._body_size = 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_size = 0
        record = self._record
        assert record is not None
        record.method = self._parser.get_method().decode("latin-1")
        record.target = self._url.decode("latin-1")
        for name, value in record.headers:
            if len(name) == 6 and name.lower() == b"expect" and value.lower() == b"100-continue":
                self._continue(record)

    def _continue(self, record: Record) -> None:
        """Let a client that asks first send its body, unless it says that the body is too large."""
        lengths = [value for name, value in record.headers if name.lower() == b"content-length"]
        if any(int(length[:18]) > self._limits.body for length in lengths if length.isdigit()):
            self._too_large = True
        elif self._player is None and not self._ready:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._body_size += len(body)
        if self._body_size > self._limits.body:
            self._too_large = True
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        record = self._record
        assert record is not None
        self._record = None
        self._in_head = True
        body = self._body
        record.body = body[0] if len(body) == 1 else b"".join(body)
        self._body = []
        if self._too_large:
            self._record = record
            self._body = [record.body]
            return
        record.complete = True
        record.received = monotonic()
        self._wiretap.add(record)
        if self._last is not None and record.headers == self._last.headers:
            # One connection's requests carry the same headers: kept once, they are half of what is kept.
            record.headers = self._last.headers
        # HTTP/1.0 knows no chunks, and its keep-alive is not worth having: such a client gets one answer.
        chunked = self._parser.get_http_version() != "1.0"
        self._ready.append((record, chunked and self._parser.should_keep_alive(), chunked))

    # answering

    def _serve(self) -> None:
        """Answer what is ready, in order, until an answer takes time."""
        while self._ready and self._player is None and not self._closing:
            record, keep_alive, chunked = self._ready.popleft()
            if self._last is not None:
                self._wiretap.settle(self._last)
            self._last = record
            try:
                frames = self._desk.answer(record, keep_alive=keep_alive, chunked=chunked)
            except Exception:
                self._crashed(record)
                document = self._desk.refuse(record, 500, "the mock itself failed; see its log")
                frames = joined(document, keep_alive=keep_alive, chunked=True)
            if type(frames) is bytes:
                self._write(record, frames)
                record.finished = True
                if not keep_alive:
                    self._close()
            else:
                assert not isinstance(frames, bytes)
                self._player = self._loop.create_task(self._play(record, frames, keep_alive))

    def _crashed(self, record: Record) -> None:
        """Note the mock's own mistake, which must neither pass for the agent's nor end the server."""
        _log.exception("the mock failed on request %d", record.number)
        self._wiretap.crashes += 1

    def _write(self, record: Record, data: bytes) -> None:
        transport = self._transport
        transport.write(data)
        record.answer.append(data)
        record.answered += len(data)
        record.answered_at = monotonic()
        unsent = transport.get_write_buffer_size()
        if unsent:
            record.written = max(record.written, record.answered - unsent)
            self._unsent.append(record)
        else:
            record.written = record.answered

    async def _play(self, record: Record, frames: Frames, keep_alive: bool) -> None:
        """Act the frames out, then go on with the next request."""
        try:
            await self._act(record, frames)
        except Exception:
            self._crashed(record)
            self._reset(record)
        if self._closing:
            return
        record.finished = True
        self._player = None
        if self._eof or not keep_alive:
            self._close()
        else:
            self._serve()

    async def _act(self, record: Record, frames: Frames) -> None:
        for frame in frames:
            if self._closing:
                return
            if isinstance(frame, bytes):
                self._write(record, frame)
                if self._paused:
                    self._drained = self._loop.create_future()
                    await self._drained
            elif isinstance(frame, Sleep):
                record.silent_since = record.silent_since or monotonic()
                await asyncio.sleep(frame.seconds)
            elif isinstance(frame, Stall):
                record.silent_since = record.silent_since or monotonic()
                await self._until_left()
                return
            elif isinstance(frame, HalfClose):
                self._transport.write_eof()
                await self._until_left()
                return
            elif isinstance(frame, Reset):
                self._reset(record)
                return
            elif isinstance(frame, Fin):
                record.finished = True
                self._close()
                return

    async def _until_left(self) -> None:
        if not self._eof:
            self._left = self._loop.create_future()
            await self._left

    def _reset(self, record: Record) -> None:
        record.finished = True
        record.closed_first = "server"
        self._closing = True
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST)
        self._transport.abort()

    # refusing

    def _malformed(self, data: bytes) -> None:
        """Answer 400 to bytes that are no HTTP, keep them, and close."""
        record = self._record or Record(self._number, self._peer_port)
        self._record = None
        self._wiretap.add_garbage(record, b"".join([*self._body, data]) if self._body else data)
        self._end(record, 400, "the request is no valid HTTP/1.1")

    def _refuse(self, status: int, message: str) -> None:
        """Answer a request that breaks a limit, loudly: the run it is part of proves nothing."""
        self._wiretap.limits_hit += 1
        _log.error("limit hit on connection %d: %s", self._number, message)
        record = self._record or Record(self._number, self._peer_port)
        self._record = None
        record.body = b"".join(self._body)
        self._wiretap.add(record)
        self._end(record, status, message)

    def _end(self, record: Record, status: int, message: str) -> None:
        if self._last is not None:
            self._wiretap.settle(self._last)
        self._last = record
        if self._player is None:
            document = self._desk.refuse(record, status, message)
            self._write(record, joined(document, keep_alive=False, chunked=True))
            record.finished = True
        self._closing = True
        # Closing at once would reset a client that is still sending, before it has read why.
        self._linger = self._loop.call_later(_LINGER, self._transport.close)

    # closing

    def _end_of(self, record: Record, closer: Closer) -> None:
        record.closed_at = monotonic()
        record.closed_first = record.closed_first or closer
        self._wiretap.settle(record)

    def _close(self) -> None:
        """Close after what is unsent; the server's doing unless the client has closed its side already."""
        if self._eof and self._last is not None:
            self._last.closed_first = self._last.closed_first or "client"
        self._closing = True
        self._transport.close()

    def shutdown(self) -> None:
        """Close for a server that stops: whatever was still going on is over once the connection is lost."""
        self._close()

    def abort(self) -> None:
        """Close without sending the rest."""
        self._transport.abort()
