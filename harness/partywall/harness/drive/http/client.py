"""Client: one identity's own connection to a deployment over HTTP, and how each answer is understood."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import httpx

from ...errors import Unreachable
from ...observe.outcome import NOT_IMPLEMENTED, TIMEOUT, UNSENT, Outcome
from ...observe.recorder import Recorder
from ...plan.channel import Channel
from ...plan.contract import LimitHit, plain
from ...plan.identity import Identity
from ...plan.leaves import leaves
from ...plan.operation import OPERATIONS
from ...plan.probe import Call
from .extraction import Unreadable, extract
from .profile import Limits, Profile, Route
from .request import WireRequest, build
from .sessions import SessionIds
from .template import Inexpressible

LARGEST_ANSWER = 8_000_000
LONGEST_REASON = 2_000
SHORTEST_REST = 8
"""Characters: no part of a canary shorter than this tells anything."""
LONGEST_ERROR = 64_000
KEEP_ALIVE = 2.0
"""Seconds. Servers give idle connections up after five or more: a request must not meet one that is just closing."""
_DULL = frozenset(
    {
        "cache-control",
        "connection",
        "content-length",
        "content-type",
        "date",
        "keep-alive",
        "retry-after",
        "server",
        "transfer-encoding",
        "vary",
    }
)


class Hooks(Protocol):
    """What surrounds each call: the one that stands in for it before it is sent, and word when it has ended."""

    async def before(self, call: Call) -> Call:
        """The call that is sent for `call`."""

    async def after(self, call: Call) -> None:
        """`call` has ended, or was given up."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Lane:
    """Keeps all clients of one target together within what it may be asked to bear."""

    def __init__(self, limits: Limits) -> None:
        self._room = asyncio.Semaphore(limits.concurrency) if limits.concurrency else None
        self._gap = 1 / limits.rps if limits.rps else 0.0
        self._next = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until one more request may go out."""
        if self._room is not None:
            await self._room.acquire()
        try:
            if self._gap:
                now = asyncio.get_running_loop().time()
                at = max(now, self._next)
                self._next = at + self._gap
                await asyncio.sleep(at - now)
            yield
        finally:
            if self._room is not None:
                self._room.release()


class Watch:
    """Records what a caller is shown beside the value of its call."""

    def __init__(self, profile: Profile) -> None:
        self._secrets = profile.secrets
        self.recorder: Recorder | None = None

    def headers(self, call: Call, answer: Answer) -> None:
        """Every header that could tell something."""
        lines = [f"{name}: {value}" for name, value in answer.headers if name.lower() not in _DULL]
        if lines:
            self._seen(Channel.HEADERS, call, "\n".join(lines))

    def unnamed(self, call: Call, document: Any, value: Any) -> None:
        """What stands in an answer and not in the value that the profile reads from it: a caller was shown that too."""
        named = {text for _, text in leaves(value)}
        rest = [text for _, text in leaves(document) if len(text) >= SHORTEST_REST and text not in named]
        if rest and not OPERATIONS[call.op].operator:
            self._seen(OPERATIONS[call.op].channel, call, "\n".join(rest))

    def error(self, call: Call, text: str) -> None:
        """The part of an error that the outcome's reason has no room for."""
        if len(text) > LONGEST_REASON:
            self._seen(Channel.ERRORS, call, text[:LONGEST_ERROR])

    def _seen(self, channel: Channel, call: Call, text: str) -> None:
        if self.recorder is not None:
            viewer = (call.caller.tenant, call.caller.user, call.scope.path[2], call.scope.path[3])
            self.recorder.seen(str(channel), self._secrets.redact(text), viewer, call.probe or None)


class HttpClient:
    """Sends calls as one identity. Its pool and cookies are its own, and so are those of each other credential it
    shows: an operation sent `as` somebody, no credential, an expired one."""

    def __init__(
        self,
        profile: Profile,
        sessions: SessionIds,
        lane: Lane,
        watch: Watch,
        hooks: Hooks,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._profile = profile
        self._sessions = sessions
        self._lane = lane
        self._watch = watch
        self._hooks = hooks
        self._transport = transport
        self._pools: dict[tuple[str, str, Identity], httpx.AsyncClient] = {}

    async def invoke(self, call: Call) -> Outcome:
        """One request, never repeated. Raises Unreachable where no connection could be made, LimitHit for an answer
        above 8,000,000 bytes."""
        call = await self._hooks.before(call)
        try:
            outcome = await self._exchange(call)
        finally:
            await self._hooks.after(call)
        secrets = self._profile.secrets
        return Outcome(outcome.status, secrets.redacted(outcome.value), secrets.redact(outcome.reason), outcome.code)

    async def aclose(self) -> None:
        """Give up all connections."""
        for pool in self._pools.values():
            await pool.aclose()

    async def _exchange(self, call: Call) -> Outcome:
        route = self._profile.routes.get(call.op)
        if route is None:
            return Outcome("fail", reason=f"the profile has no {call.op}", code=NOT_IMPLEMENTED)
        limit = min(each for each in (route.timeout, self._profile.timeout, call.timeout) if each)
        sent = False
        try:
            # a little before the driver's own deadline, which could not say whether anything had been sent
            async with asyncio.timeout(limit * 0.95), self._sessions.alone(call), self._lane.turn():
                request = build(call, self._profile, route, self._sessions)
                sent = True
                answer = await self._answer(call, route, request, limit)
        except Inexpressible as error:
            return Outcome("fail", reason=str(error), code=UNSENT)
        except TimeoutError:
            if not sent:
                return Outcome("fail", reason=f"its turn did not come within {limit:g} s", code=UNSENT)
            return Outcome("info", reason=f"no answer within {limit:g} s", code=TIMEOUT)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unreachable(f"no connection to {self._profile.base_url}: {_told(error)}") from error
        except httpx.InvalidURL as error:
            return Outcome("fail", reason=f"no URL for these ids: {error}", code=UNSENT)
        except (httpx.TransportError, httpx.DecodingError) as error:
            return Outcome("info", reason=_told(error), code="disconnected")
        return self._outcome(call, route, answer)

    async def _answer(self, call: Call, route: Route, request: WireRequest, limit: float) -> Answer:
        pool = self._pool((route.identity, call.credential, call.caller))
        built = pool.build_request(
            request.method,
            request.url,
            headers=list(request.headers),
            content=request.content or None,
            timeout=httpx.Timeout(None, connect=limit * 0.8),
        )
        response = await pool.send(built, stream=True)
        try:
            headers = tuple((_text(name), _text(value)) for name, value in response.headers.raw)
            self._watch.headers(call, Answer(response.status_code, headers, b""))
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > LARGEST_ANSWER:
                    raise LimitHit(f"answer larger than {LARGEST_ANSWER:,} bytes")
        finally:
            await response.aclose()
        return Answer(response.status_code, headers, bytes(body))

    def _outcome(self, call: Call, route: Route, answer: Answer) -> Outcome:
        status, code = route.classes.of(answer.status)
        if status != "ok":
            return Outcome(status, reason=self._reason(call, answer), code=code)
        document, fault = _document(answer, route)
        if fault:
            return Outcome("info", reason=self._reason(call, answer, fault), code="unreadable")
        if route.ok_when and (broken := route.ok_when.broken(document)):
            return Outcome("info", reason=self._reason(call, answer, broken), code="not_ok")
        self._sessions.learn(call, document, answer.headers)
        operation = OPERATIONS[call.op]
        try:
            value = extract(route.extraction, document, operation.shape, operation.channel is Channel.ACK)
        except Unreadable as error:
            return Outcome("info", reason=self._reason(call, answer, str(error)), code="unreadable")
        value = plain(value)
        self._watch.unnamed(call, document, value)
        return Outcome("ok", value)

    def _reason(self, call: Call, answer: Answer, why: str = "") -> str:
        location = next((value for name, value in answer.headers if name.lower() == "location"), "")
        told = [f"HTTP {answer.status}", why, f"location {location}" if location else "", _decoded(answer.body)]
        text = ": ".join(part for part in told if part)
        self._watch.error(call, text)
        return text[:LONGEST_REASON]

    def _pool(self, key: tuple[str, str, Identity]) -> httpx.AsyncClient:
        if key not in self._pools:
            self._pools[key] = httpx.AsyncClient(
                verify=_tls(self._profile.base_url.startswith("https:")),
                http2=False,
                follow_redirects=False,
                trust_env=False,
                transport=self._transport,
                limits=httpx.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE),
            )
        return self._pools[key]


def _document(answer: Answer, route: Route) -> tuple[Any, str]:
    """The answer as what the route reads, or why it cannot be read."""
    if route.extraction.format == "text":
        return _decoded(answer.body), ""
    try:
        # surrogates keep bytes that are no UTF-8 apart from the JSON around them; the seam writes them as \\udcNN
        return json.loads(answer.body.decode("utf-8-sig", "surrogateescape"), strict=False), ""
    except RecursionError:
        return None, "the answer is nested too deeply"
    except ValueError:
        wanted = route.extraction.needs_json or route.ok_when is not None
        return None, "the answer is no JSON" if wanted else ""


def _decoded(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _told(error: Exception) -> str:
    text = str(error)[:500]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@cache
def _tls(needed: bool) -> ssl.SSLContext:
    """One for all clients: reading the certificates takes longer than a call. Over plain HTTP none are read."""
    return httpx.create_ssl_context(trust_env=False) if needed else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
