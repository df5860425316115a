"""The service over HTTP: one POST route an operation, an identity before anything else is looked at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from partywall.canaries import Level, Scope, ScopeError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from . import problems, wire
from .identity import Principal
from .operations import Call, Operations, OperatorViews
from .parts import System
from .refusals import Invalid, Refusal, TooLarge, Unauthenticated

OPERATIONS: Mapping[str, type[wire.Scoped]] = {
    "create_session": wire.CreateSession,
    "delete_session": wire.Scoped,
    "archive_session": wire.Scoped,
    "session_info": wire.Scoped,
    "list_sessions": wire.Scoped,
    "append_turn": wire.AppendTurn,
    "list_turns": wire.ListTurns,
    "run_turn": wire.RunTurn,
    "context": wire.Context,
    "add_memory": wire.AddMemory,
    "search_memory": wire.SearchMemory,
    "list_memories": wire.Scoped,
    "get_memory": wire.ById,
    "delete_memory": wire.ById,
    "put_fact": wire.PutFact,
    "get_fact": wire.GetFact,
    "list_facts": wire.ListFacts,
    "delete_fact": wire.DeleteFact,
    "put_artifact": wire.PutArtifact,
    "get_artifact": wire.GetArtifact,
    "list_artifacts": wire.Scoped,
    "render_artifact": wire.RenderArtifact,
    "replay_artifact": wire.GetArtifact,
    "cached_answer": wire.CachedAnswer,
    "purge": wire.Purge,
}
VIEWS: Mapping[str, type[wire.Watched]] = {
    "stored_bytes": wire.Watched,
    "stored_keys": wire.Watched,
    "side_effects": wire.Watched,
    "read_log": wire.Watched,
    "metrics": wire.Watched,
    "advance_clock": wire.AdvanceClock,
}
_ERASING = ("purge", "delete_session")

Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(system: System) -> FastAPI:
    """The ASGI application of `system`; it closes the system when it shuts down."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await system.purge.resume()
        sweeping = asyncio.create_task(system.sweeper.run(system.settings.sweep_every))
        yield
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)
        await system.aclose()

    app = FastAPI(lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    front = _Front(system)
    for name, body in OPERATIONS.items():
        app.add_route(f"/v1/{name}", front.operation(name, body), methods=["POST"])
    for name, view in VIEWS.items():
        app.add_route(f"/v1/{name}", front.view(name, view), methods=["POST"])
    app.add_route("/healthz", _healthy, methods=["GET"])
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(Exception, _failure)
    return app


class _Front:
    """Turns requests into calls: identity, size, shape, scope, admission, and only then the operation."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._operations = Operations(system)
        self._views = OperatorViews(system)

    def operation(self, name: str, model: type[wire.Scoped]) -> Endpoint:
        handler: Callable[[Call, Any], Awaitable[object]] = getattr(self._operations, name)

        async def run(request: Request, principal: Principal) -> tuple[Scope | None, object]:
            body = wire.read(model, await _body(request))
            assert isinstance(body, wire.Scoped)
            scope = self._scope(body.scope)
            if isinstance(body, wire.Purge):
                self._system.gate.admit_purge(principal, scope, Level[body.level.upper()])
            else:
                self._system.gate.admit(principal, scope)
            await self._system.rates.admit(scope)
            await self._system.endings.settle(scope)
            try:
                return scope, await handler(Call(principal, scope), body)
            except ScopeError:
                raise self._missing(scope) from None

        return self._endpoint(name, run)

    def view(self, name: str, model: type[wire.Watched]) -> Endpoint:
        handler: Callable[[None, Any], Awaitable[object]] = getattr(self._views, name)

        async def run(request: Request, principal: Principal) -> tuple[Scope | None, object]:
            self._system.gate.admit_operator(principal)
            return None, await handler(None, wire.read(model, await _body(request)))

        return self._endpoint(name, run)

    def _endpoint(
        self, name: str, run: Callable[[Request, Principal], Awaitable[tuple[Scope | None, object]]]
    ) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            began = time.perf_counter()
            scope: Scope | None = None
            try:
                scope, value = await run(request, self._principal(request))
                outcome, response = "ok", _value(value)
            except Refusal as refusal:
                outcome, response = refusal.code, problems.of(refusal)
            # A refused call is logged without a scope: what it claimed to address was not admitted. So is an
            # erasure: its line must not be what is left of what it erased.
            taken = round((time.perf_counter() - began) * 1000, 3)
            self._system.log.write(name, None if name in _ERASING else scope, outcome=outcome, ms=taken)
            return response

        return endpoint

    def _principal(self, request: Request) -> Principal:
        given = request.headers.getlist("authorization")
        if len(given) != 1:
            raise Unauthenticated
        return self._system.tokens.verify(given[0])

    def _scope(self, given: wire.ScopeBody) -> Scope:
        for level, value in ((Level.TENANT, given.tenant), (Level.USER, given.user)):
            if not value:
                self._system.metrics.missing(level.label)
                raise Invalid(f"scope.{level.label} is missing")
        return Scope(given.tenant or "", given.user or "", given.session, given.task)

    def _missing(self, scope: Scope) -> Invalid:
        level = next((each for each in Level if not scope.path[each - 1]), Level.TASK)
        self._system.metrics.missing(level.label)
        return Invalid(f"this operation needs scope.{level.label}")


def _value(value: object) -> Response:
    # No store and no shared cache in between: every answer belongs to one identity.
    return JSONResponse({"value": value}, headers={"cache-control": "no-store"})


async def _body(request: Request) -> bytes:
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > wire.LARGEST_BODY:
            raise TooLarge(f"the body is longer than {wire.LARGEST_BODY} bytes")
    return bytes(raw)


async def _healthy(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _http_problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = "not_found" if error.status_code == 404 else "invalid"
    return problems.document(error.status_code, code, "no such route")


async def _failure(_: Request, error: Exception) -> Response:
    return problems.document(500, "internal", "the service failed; what was asked for may have been applied")
