"""An application behind the middleware, and a client that calls it without a socket."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from partywall.harness.online import Limits, Middleware, PartywallMiddleware, Settings

from .marked import KEY

Message = dict[str, Any]
HEADERS = [(b"x-tenant-id", b"acme"), (b"x-user-id", b"ann"), (b"x-session-id", b"s1"), (b"x-request-id", b"r-1")]
JSON = [(b"content-type", b"application/json")]
QUICK = Limits(interval=0.005, pause=0.2, closing=60)


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


def until(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.005)
    return true()
