"""A server on a real socket that reads requests as they are and answers with bytes, whatever these are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came: header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


def whole(body: bytes | str = b'{"reply": "ok"}', status: str = "200 OK", *headers: str, kind: str = "") -> bytes:
    """A complete answer that keeps the connection."""
    raw = body.encode() if isinstance(body, str) else body
    lines = [
        f"HTTP/1.1 {status}",
        f"content-type: {kind or 'application/json'}",
        f"content-length: {len(raw)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw


def always(answer: bytes) -> Answer:
    """Answers every request alike."""

    async def give(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return give


@dataclass
class Server:
    """Serves on `port` of this machine while it is entered; 0 takes a free one."""

    answer: Answer = field(default_factory=lambda: always(whole()))
    requests: list[Received] = field(default_factory=list)
    port: int = 0
    url: str = ""

    async def __aenter__(self) -> Server:
        self._connections = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Close the port and every connection."""
        self._server.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        number = self._connections
        self._writers.append(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.rstrip("\r\n").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                method, target, _ = first.split(" ")
                self.requests.append(Received(method, target, headers, body, number))
                await self.answer(self.requests[-1], writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()  # cancelled only when a test's loop ends: nobody waits for this task
