"""Desk: what each request is answered with; routes, scopes, calls and the fault in force.

Routes below the server's root, `/v1` optional, each also below `/s/<scope>`: those of every codec (POST),
`/embeddings` (POST), `/models` and `/models/<id>` (GET), `/healthz` (GET). Whether an answer is one document
or a stream is up to the body's `stream` alone. A fault strikes codec routes only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from . import embeddings
from .attribution import Flight, attribute
from .codec import Codec, PromptError, openai_error
from .decision import Decisions
from .document import JSON, Document, encode
from .fault import Case
from .frames import Frames, joined, render
from .keys import owner_of, scope_key
from .profiles import profile_of
from .reply import reply
from .rules import Profile, Rule
from .turn import Prompt, said
from .wiretap import Record

_MODELS = ("mock", "mock-embedding")
_CREATED = 1_750_000_000
_ROUTES_KEPT = 4096
_HEALTHY = "steady"
LONGEST_SAID = 2_000
"""Characters kept of what a fault made the model say."""
_raw_decode = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Route:
    """Where a target leads: a path below the base URL, and the scope named before it."""

    path: str
    scope: str | None
    codec: Codec | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """A profile in force, with the streams of its own seed if it has one.

    `harmless` is the id of a fault that changes nothing and strikes every call: then nothing need be decided.
    """

    profile: Profile
    decisions: Decisions
    harmless: str = ""


class ModelDesk:
    """Answers as the model provider would, or as a fault has it. All state is per scope.

    The server's profile strikes every call, unless the probe that a call belongs to names another.
    """

    def __init__(self, decisions: Decisions, profile: Profile, codecs: Mapping[str, Codec]) -> None:
        self._decisions = decisions
        self._plans: dict[str, _Plan] = {}
        self._plan = self._planned(profile)
        self._codecs = {route: codec for codec in codecs.values() for route in codec.routes}
        self._routes: dict[str, Route] = {}

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self._plan.profile

    @profile.setter
    def profile(self, profile: Profile) -> None:
        self._plan = self._planned(profile)

    def answer(self, record: Record, *, keep_alive: bool, chunked: bool) -> bytes | Frames:
        """What answers a complete request, bytes where no fault acts on frames.

        The record learns scope, call and fault.
        """
        route = self._routes.get(record.target) or self._route(record.target)
        record.path_scope = route.scope
        record.scope = scope_key(record.owner) if record.owner else route.scope or "-"
        if route.codec is not None and record.method == "POST":
            return self._model(record, route.codec, keep_alive, chunked)
        document = self._other(record, route, self._request_id(record))
        if record.method == "HEAD":
            return render(document, keep_alive=keep_alive, chunked=chunked)[0]
        return joined(document, keep_alive=keep_alive, chunked=chunked)

    def refuse(self, record: Record, status: int, message: str) -> Document:
        """An error document for a request that is not answered as one of an API."""
        return openai_error(status, message, self._request_id(record))

    def _model(self, record: Record, codec: Codec, keep_alive: bool, chunked: bool) -> bytes | Frames:
        record.api = codec.id
        flight = self._flight(record)
        if flight is not None and record.scope == "-":
            record.scope = scope_key(flight.scope)
        scope = record.scope
        dice = self._decisions.draw(scope, "reply", record.body)
        try:
            prompt = codec.read(_object(record.body))
        except PromptError as error:
            request_id = "req_" + dice.hex()[24:56]
            return joined(
                openai_error(400, str(error), request_id, error.param), keep_alive=keep_alive, chunked=chunked
            )
        record.call, record.attempt = self._decisions.count(scope, dice[:16])
        harmless = "" if flight is not None and flight.fault else self._plan.harmless
        rule = None if harmless else self._rule(record, prompt, codec, dice, flight)
        turn = reply(prompt, dice)
        if rule is None:
            record.fault = harmless or _HEALTHY
            document = codec.stream(turn, prompt) if prompt.stream else codec.whole(turn)
            return joined(document, keep_alive=keep_alive, chunked=chunked)
        fault = rule.fault
        record.fault, record.rule = fault.id, rule.id
        if fault.turn is None and fault.document is None and fault.frames is None:
            document = codec.stream(turn, prompt) if prompt.stream else codec.whole(turn)
            return joined(document, keep_alive=keep_alive, chunked=chunked)
        dice = self._decisions.draw(scope, f"{rule.id}|{fault.id}", b"%d" % record.call)
        case = Case(prompt, codec, dice)
        if fault.turn is not None:
            turn = fault.turn(turn, case)
        document = codec.stream(turn, prompt) if prompt.stream else codec.whole(turn)
        words = said(turn) if fault.turn is not None else ""
        if fault.document is not None:
            document = fault.document(document, case)
            words = document.body.decode("utf-8", "replace")
        record.said = words[:LONGEST_SAID]
        record.mark = case.mark if case.mark in words else ""
        if fault.frames is None:
            return joined(document, keep_alive=keep_alive, chunked=chunked)
        return fault.frames(render(document, keep_alive=keep_alive, chunked=chunked), case)

    def _flight(self, record: Record) -> Flight | None:
        """The probe that a call belongs to, asked only where some probe in flight names a fault of its own."""
        if not any(flight.fault for flight in record.in_flight):
            return None
        probe = attribute(record.freeze(), record.in_flight).probe
        return next((flight for flight in record.in_flight if flight.probe == probe), None)

    def _rule(self, record: Record, prompt: Prompt, codec: Codec, dice: bytes, flight: Flight | None) -> Rule | None:
        """The first rule in force that strikes the call; every rule that matches it counts it."""
        plan = self._plan
        if flight is not None and flight.fault:
            plan = self._plans.get(flight.fault) or self._planned(profile_of(flight.fault), flight.fault)
        path = record.owner or (owner_of(record.path_scope) if record.path_scope else None)
        if path is None:
            path = flight.scope if flight is not None else ()
        chosen = None
        for rule in plan.profile.rules:
            if rule.on.matches(prompt, codec.id, path):
                struck = rule.strikes(plan.decisions, record.scope, dice[:16])
                chosen = rule if struck and chosen is None else chosen
        return chosen

    def _planned(self, profile: Profile, spec: str = "") -> _Plan:
        decisions = self._decisions if profile.seed is None else Decisions(profile.seed)
        only = profile.rules[0].fault if len(profile.rules) == 1 and profile.rules[0].always else None
        changes = only is None or only.turn or only.document or only.frames
        plan = self._plans[spec or profile.id] = _Plan(profile, decisions, "" if changes else profile.id)
        return plan

    def _other(self, record: Record, route: Route, request_id: str) -> Document:
        method, path = record.method, route.path
        get = ("GET", "HEAD")
        allowed = {"/embeddings": ("POST",), "/models": get, "/healthz": get}.get(path)
        if path.startswith("/models/"):
            allowed = get
        elif route.codec is not None:
            allowed = ("POST",)
        if allowed is None:
            message = f"Invalid URL ({method} {record.target[:200]})"
            return openai_error(404, message, request_id, None, "unknown_url")
        if method not in allowed:
            message = f"Not allowed to {method} on {path} (HINT: did you mean to make a {allowed[0]} request?)"
            return openai_error(405, message, request_id, None, "method_not_supported")
        if path == "/embeddings":
            return _embeddings(record, request_id)
        if path == "/healthz":
            data: dict[str, Any] = {"status": "ok"}
        elif path == "/models":
            data = {"object": "list", "data": [_model(id) for id in _MODELS]}
        else:
            data = _model(unquote(path.removeprefix("/models/")))
        return Document(200, JSON, encode(data).encode(), request_id)

    def _request_id(self, record: Record) -> str:
        return "req_" + self._decisions.draw(record.scope, "other", record.body).hex()[:32]

    def _route(self, target: str) -> Route:
        try:
            path = urlsplit(target).path
        except ValueError:
            path = target
        scope = None
        if path.startswith("/s/"):
            segment, _, rest = path.removeprefix("/s/").partition("/")
            scope, path = unquote(segment), "/" + rest
        path = path.removeprefix("/v1") if path.startswith("/v1/") else path
        route = Route(path, scope, self._codecs.get(path))
        if len(self._routes) < _ROUTES_KEPT:
            self._routes[target] = route
        return route


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        text = body.decode()
        # `json.loads` guesses an encoding and looks for blanks first, which takes as long as a small prompt.
        data, end = _raw_decode(text) if text[:1] == "{" else (json.loads(text), len(text))
        if end != len(text):
            data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PromptError(f"We could not parse the JSON body of your request: {error}") from None
    if not isinstance(data, dict):
        raise PromptError("Invalid body: expected a JSON object.")
    return data


def _embeddings(record: Record, request_id: str) -> Document:
    record.api = "embeddings"
    try:
        return embeddings.answer(_object(record.body), request_id)
    except PromptError as error:
        return openai_error(400, str(error), request_id, error.param)


def _model(id: str) -> dict[str, Any]:
    return {"id": id, "object": "model", "created": _CREATED, "owned_by": "partywall"}
