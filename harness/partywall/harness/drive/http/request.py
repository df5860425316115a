"""Request: from a call and a route to what goes over the wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import jwt

from ...plan.operation import OPERATIONS
from ...plan.probe import Call
from .auth import Proof, identity_variables
from .profile import Profile, Route
from .sessions import SessionIds
from .template import ABSENT, Inexpressible, render, render_fields, render_headers, render_path

_OURS = (("user-agent", "partywall"), ("accept", "application/json, */*;q=0.5"), ("accept-encoding", "identity"))


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request, everything encoded."""

    method: str
    url: str
    headers: tuple[tuple[bytes, bytes], ...]
    content: bytes


def variables_of(call: Call, profile: Profile, sessions: SessionIds) -> dict[str, Any | Callable[[], Any]]:
    """What templates may say of a call. A session's id is asked for only where it is used."""
    tenant, user, _, task = call.scope.path
    defaults = {name: value for name, value in OPERATIONS[call.op].parameters.items() if value is not ...}
    found: dict[str, Any] = {
        **profile.variables,
        **defaults,
        **call.arguments,
        **identity_variables(call.caller),
        "tenant": tenant,
        "user": user,
        "task": task,
        "request_id": call.request_id,
        "session": lambda: sessions.of(call.scope),
    }
    if "carry_from" in found:
        carried = found["carry_from"]
        found["carry_from"] = lambda: sessions.sibling(call.scope, carried)
    return found


def build(call: Call, profile: Profile, route: Route, sessions: SessionIds) -> WireRequest:
    """The request of `call`. Raises Inexpressible where the profile has no place for what was planned."""
    variables = variables_of(call, profile, sessions)
    proof = _proof(call, profile, route)
    try:
        query = urlencode([*render_fields(route.query, variables), *proof.query], quote_via=quote, safe="")
        content, kind = _body(route, variables)
        url = profile.base_url + render_path(route.path, variables) + (f"?{query}" if query else "")
        ours = {**dict(_OURS), **({"content-type": kind} if kind else {})}
        headers = [*ours.items(), *render_headers(profile.headers, variables)]
        merged = _merged([*headers, *render_headers(route.headers, variables), *proof.headers])
        return WireRequest(route.method, url, merged, content)
    except UnicodeEncodeError:
        raise Inexpressible("half of a surrogate pair cannot stand outside of JSON") from None


def _proof(call: Call, profile: Profile, route: Route) -> Proof:
    """An operation that is sent as somebody else bears that one's credentials, whatever the caller's are."""
    credentials = profile.identities.named(route.identity) if route.identity else profile.identities.of(call.caller)
    try:
        return credentials.proof(call.caller, call.credential, {**profile.variables, **identity_variables(call.caller)})
    except (jwt.PyJWTError, ValueError, TypeError, NotImplementedError) as error:
        raise Inexpressible(f"no token could be signed: {type(error).__name__}") from error


def _body(route: Route, variables: dict[str, Any]) -> tuple[bytes, str]:
    if route.body is None:
        return b"", ""
    if route.body_kind == "form":
        fields = render_fields(route.body, variables)
        return urlencode(fields).encode("ascii"), "application/x-www-form-urlencoded"
    value = render(route.body, variables)
    if value is ABSENT:
        return b"", ""
    return json.dumps(value, allow_nan=False).encode("ascii"), "application/json"


def _merged(headers: list[tuple[str, str]]) -> tuple[tuple[bytes, bytes], ...]:
    """A later header replaces an earlier one of its name; cookies are put together."""
    found: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        found[lower] = f"{found[lower]}; {value}" if lower == "cookie" and lower in found else value
    return tuple((name.encode("ascii"), value.encode("utf-8")) for name, value in found.items())
