"""Middleware: every reply of an ASGI application is forwarded first, and a copy of it checked out of the path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from .checker import Checker, Settings
from .exchange import Copy, ScopeFrom, passed_of
from .findings import Findings
from .metrics import Metrics
from .service import Service
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

    Lifespan and websocket pass untouched. Of http, messages pass as they are and when they are; what is kept are
    references to their bytes. An application's error passes unchanged, an error in here never reaches it. Raises
    UsageError where the configuration cannot work: a short key, findings that cannot be written.
    """

    def __init__(self, app: App, watch: Middleware, registry: CollectorRegistry | None = None) -> None:
        self.app = app
        self._service = Service(Checker(watch.settings, TAP), Findings(watch.findings))
        self._cap = watch.cap
        self._scope_from = watch.scope_from
        self._keys = watch.scope_from.state_keys
        self.worker: Worker[Copy] = Worker(self._check, watch.limits, self.total, self._service.idle)
        if registry is not None:
            queued, enabled = (lambda: self.worker.depth), (lambda: self.worker.enabled)
            Metrics(TAP, self, queued, enabled).register(registry)

    @property
    def total(self) -> Tally:
        """Everything counted so far."""
        return self._service.total

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            if scope["type"] == "lifespan":
                self.worker.close()
            return
        self.worker.wake()
        if not self.worker.enabled:
            await self.app(scope, receive, send)
            return
        copy = Copy(scope, self._cap)

        request, response = copy.request, copy.response

        async def received() -> Message:
            message = await receive()
            try:
                request(message)
            except Exception:
                self.total.errors += 1
            return message

        async def sent(message: Message) -> None:
            await send(message)
            try:
                response(message)
            except Exception:
                self.total.errors += 1

        try:
            await self.app(scope, received, sent)
        finally:
            try:
                copy.keep(scope.get("state"), self._keys)
                self.worker.offer(copy)
            except Exception:
                self.total.errors += 1

    def close(self) -> None:
        """Check what still waits, for two seconds at most."""
        self.worker.close()

    def _check(self, copies: list[Copy]) -> None:
        self._service.check([passed_of(copy, self._scope_from) for copy in copies])
