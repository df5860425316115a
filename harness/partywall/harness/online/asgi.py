"""Middleware: every reply of an ASGI application passes as it is, and a copy of it is checked out of the path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import asdict, dataclass, field
from os import getpid
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from .apart import Apart
from .checker import Checker, Settings
from .exchange import ScopeFrom
from .findings import Findings
from .frames import frozen
from .metrics import Metrics
from .tally import Tally
from .worker import Limits, Worker

TAP = "asgi"

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Middleware:
    """How an application is watched from inside.

    `cap` is how many bytes of a request, and of a reply, are copied; what stands behind is not looked at, and counted.
    """

    settings: Settings
    findings: Path
    scope_from: ScopeFrom = field(default_factory=ScopeFrom)
    limits: Limits = field(default_factory=Limits)
    cap: int = 256 * 1024


class PartywallMiddleware:
    """Pure ASGI: `PartywallMiddleware(app, Middleware(Settings(key), Path("findings.jsonl")))`.

    Lifespan and websocket pass untouched. Of http, messages pass as they are and when they are; once the reply has
    left, a copy of their bytes is handed to a process of its own, which checks it. An application's error passes
    unchanged, an error in here never reaches it. Raises UsageError where the configuration cannot work: a short key,
    findings that cannot be written.
    """

    def __init__(self, app: App, watch: Middleware, registry: CollectorRegistry | None = None) -> None:
        self.app = app
        self._cap = watch.cap
        self._keys = watch.scope_from.state_keys
        Checker(watch.settings, TAP)  # whatever is wrong is told here and now, not by a process that dies of it
        Findings(watch.findings).close()
        setup = {
            "settings": asdict(watch.settings),
            "scope_from": asdict(watch.scope_from),
            "findings": str(watch.findings.absolute()),
            "cap": watch.cap,
        }
        self.apart = Apart(setup, watch.limits.hang, watch.limits.errors)
        self.worker = Worker(self.apart, watch.limits)
        if registry is not None:
            queued, enabled = (lambda: self.worker.depth), (lambda: self.worker.enabled)
            Metrics(TAP, self, queued, enabled).register(registry)

    @property
    def total(self) -> Tally:
        """Everything counted so far."""
        return self.apart.total

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._pass(scope, receive, send)
            return
        worker = self.worker
        if worker.process != getpid():
            worker.wake()
        if not worker.enabled:
            await self.app(scope, receive, send)
            return
        # Every microsecond from here on is one that the application takes longer: no calls that can be spared, and no
        # coroutine around `send`.
        headers, path, query = scope.get("headers", ()), scope.get("path", ""), scope.get("query_string", b"")
        asked: list[bytes] = []
        replied: list[bytes] = []
        start: Message | None = None
        asked_room = room = self._cap
        cut = False

        async def received() -> Message:
            nonlocal asked_room
            message = await receive()
            try:
                if body := message.get("body"):
                    asked_room -= _keep(asked, body, asked_room)
            except Exception:
                self.total.errors += 1
            return message

        def sent(message: Message) -> Awaitable[None]:
            nonlocal start, room, cut
            try:
                if body := message.get("body"):
                    if len(body) > room:
                        cut = True
                    room -= _keep(replied, body, room)
                elif start is None and message["type"] == "http.response.start":
                    start = message
            except Exception:
                self.total.errors += 1
            return send(message)

        try:
            await self.app(scope, received, sent)
        finally:
            try:
                kept = None
                if state := scope.get("state"):
                    # now, before another request may change it
                    kept = {key: state[key] for key in self._keys if key in state}
                # as bytes: a thousand waiting copies of some thirty objects each would let no request find its memory
                # in the processor's caches; the reply has left, so this delays none
                worker.offer(frozen((headers, path, query, asked, replied, start, kept, cut)))
            except Exception:
                self.total.errors += 1

    def close(self) -> None:
        """Check what still waits, for as long as `Limits.closing` says at most, and end the process that checks."""
        self.worker.close()

    async def _pass(self, scope: Message, receive: Receive, send: Send) -> None:
        lifespan = scope["type"] == "lifespan"
        if lifespan:
            self.worker.wake()  # so that the process is ready before the first request is
        await self.app(scope, receive, send)
        if lifespan:
            self.worker.close()


def _keep(kept: list[bytes], body: Any, room: int) -> int:
    if type(body) is bytes and len(body) <= room:
        kept.append(body)
        return len(body)
    if room <= 0:
        return 0
    # a bytearray or a view may be used again by whoever sent it
    kept.append(bytes(body[:room]))
    return len(kept[-1])
