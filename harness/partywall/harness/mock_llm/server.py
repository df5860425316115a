"""The mock LLM: a model provider to point an agent's base URL at, and a wiretap on all it is sent."""

from __future__ import annotations

import asyncio
import errno
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from partywall.canaries import UsageError

from . import registry
from .attribution import InFlight
from .connection import Connection, Limits
from .decision import Decisions
from .desk import ModelDesk
from .journal import Journal
from .keys import ApiKeys, scope_key
from .profiles import profile_of
from .wiretap import Wiretap

_GRACE = 1.0
"""Seconds that open connections get to take what is still unsent when the server stops."""


class MockLLM:
    """A deterministic model server in the caller's event loop.

    `fault` is a fault's id, or a file of profiles as `profile_of` takes it.
    `api_keys` maps keys to the paths (tenant, user, …) they are registered to; a
    shared provider key belongs in no map. `journal` is a file, not yet there, that every exchange is written
    to. Raises UsageError for an unknown fault, a journal that exists, a port that is taken.

        async with MockLLM(seed=7) as mock:
            client = AsyncOpenAI(base_url=mock.base_url, api_key="any")
            …
            prompts = [exchange.body for exchange in mock.wiretap.exchanges()]
    """

    def __init__(
        self,
        seed: int = 0,
        fault: str = "steady",
        api_keys: Mapping[str, Sequence[str | None]] | None = None,
        journal: str | Path | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.seed = seed
        self.in_flight = InFlight()
        self._keys = ApiKeys()
        self._limits = limits or Limits()
        for key, path in (api_keys or {}).items():
            self._keys.register(key, path)
        self.wiretap = Wiretap(self._keys, self.in_flight, None if journal is None else Journal(Path(journal)))
        self._desk = ModelDesk(Decisions(seed), profile_of(fault), registry.codecs())
        self._connections: set[Connection] = set()
        self._numbers = count(1)
        self._server: asyncio.Server | None = None
        self._host = ""
        self._port = 0

    @property
    def fault(self) -> str:
        """The fault or profile in force; it may be set to any other, as `profile_of` takes it."""
        return self._desk.profile.id

    @fault.setter
    def fault(self, name: str) -> None:
        self._desk.profile = profile_of(name)

    @property
    def port(self) -> int:
        """The port listened on; UsageError before the start."""
        if not self._port:
            raise UsageError("the mock LLM has no port before it is started")
        return self._port

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its base URL."""
        return f"{self._root()}/v1"

    def base_url_for(self, path: Sequence[str | None]) -> str:
        """A base URL under which every request is attributed to `path`, one to four ids."""
        return f"{self._root()}/s/{quote(scope_key(path), safe='')}/v1"

    def register(self, api_key: str, path: Sequence[str | None]) -> None:
        """Let an API key stand for an identity; given to a second one it stands for nobody."""
        self._keys.register(api_key, path)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen; port 0 takes a free one. UsageError where it is taken or the server runs already."""
        if self._server is not None:
            raise UsageError(f"the mock LLM is already listening on port {self._port}")
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(self._connection, host, port, backlog=1024)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise UsageError(f"port {port} on '{host}' is taken; port 0 takes a free one") from None
            raise UsageError(f"cannot listen on '{host}' port {port}: {error.strerror or error}") from None
        except OverflowError:
            raise UsageError(f"port must be 0 to 65535, got {port}") from None
        self._host = "127.0.0.1" if host in ("", "0.0.0.0") else host
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the port and every connection, by force after a second; stopping twice is no mistake."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        connections = list(self._connections)
        for connection in connections:
            connection.shutdown()
        ends = [connection.lost for connection in connections]
        if ends:
            await asyncio.wait(ends, timeout=_GRACE)
            for connection in connections:
                if not connection.lost.done():
                    connection.abort()
            await asyncio.wait(ends, timeout=_GRACE)
        await server.wait_closed()
        self.wiretap.close()
        self._port = 0

    async def __aenter__(self) -> Self:
        if self._server is None:
            await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _connection(self) -> Connection:
        return Connection(next(self._numbers), self._desk, self.wiretap, self._limits, self._connections)

    def _root(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"


async def serve(port: int, seed: int, fault: str = "steady") -> None:
    """Run a mock LLM until cancelled or told to end by SIGTERM; prints one line when it is ready."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    with suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGTERM, ended.set)
    mock = MockLLM(seed=seed, fault=fault)
    await mock.start(port=port)
    try:
        print(f"mock-llm ready on {mock.base_url} (seed {seed}, fault {mock.fault})", flush=True)
        await ended.wait()
    finally:
        await mock.stop()
