"""Auth: what an identity shows for itself, valid, none at all, or expired; and what of it must never be told."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

import jwt

from ...plan.identity import Identity
from ...plan.probe import Credential
from .template import EMPTY, Inexpressible, Node, Structure, render, render_headers
from .template import Literal as Fixed

SHORTEST_SECRET = 6
"""Shorter values are not redacted: they would take words out of every answer."""

Scheme = Literal["none", "bearer", "api_key", "basic", "jwt"]
Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """What a request carries for its caller."""

    headers: Fields = ()
    query: Fields = ()


@dataclass(frozen=True, slots=True)
class Credentials:
    """How one kind of caller proves itself. `parts` are the templates of the scheme by the names of the profile.

    `secret_headers` are the names, in lower case, of headers whose value proves something.
    """

    scheme: Scheme = "none"
    parts: Mapping[str, Node] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    headers: Node = EMPTY
    secret_headers: frozenset[str] = frozenset()

    def proof(self, caller: Identity, credential: Credential, variables: Mapping[str, Any]) -> Proof:
        """What `caller` shows. `none` leaves out everything the identity would have added; `expired` is a token past
        its end, or a value that never was valid.

        Raises Inexpressible where there is nothing to leave out or to spoil: sent as it is, the call would be one
        with valid credentials.
        """
        own = render_headers(self.headers, variables)
        if credential == "none":
            if self.scheme == "none" and not own:
                raise Inexpressible("this identity has no credential to leave out")
            return Proof()
        stale = credential == "expired"
        if stale and self.scheme == "none" and not self.secret_headers:
            raise Inexpressible("this identity has no credential that could have expired")
        if stale:
            own = [(name, _spoiled(text) if name.lower() in self.secret_headers else text) for name, text in own]
        scheme = self._scheme(stale, variables)
        return Proof((*own, *scheme.headers), scheme.query)

    def _scheme(self, stale: bool, variables: Mapping[str, Any]) -> Proof:
        values = {name: render(node, variables) for name, node in self.parts.items() if name != "claims"}
        if self.scheme == "jwt":
            return _bearer(self._token(str(values["key"]), stale, variables))
        if stale:
            values = {name: _spoiled(str(value)) if name in _SECRETS else value for name, value in values.items()}
        if self.scheme == "bearer":
            return _bearer(str(values["token"]))
        if self.scheme == "basic":
            pair = base64.b64encode(f"{values['username']}:{values['password']}".encode()).decode()
            return _checked("authorization", f"Basic {pair}")
        if self.scheme == "api_key":
            return self._api_key(str(values["value"]))
        return Proof()

    def _api_key(self, value: str) -> Proof:
        name, where = str(self.settings["name"]), self.settings["in"]
        if where == "query":
            return Proof(query=((name, value),))
        if where == "cookie":
            return _checked("cookie", f"{name}={quote(value, safe='')}")
        return _checked(name, value)

    def _token(self, key: str, stale: bool, variables: Mapping[str, Any]) -> str:
        ttl = float(self.settings["ttl"])
        # A minute back: the target's clock may be behind, and a token from the future is refused.
        issued = time.time() - 60 - (2 * ttl + 3600 if stale else 0)
        claims = render(self.parts["claims"], variables)
        times = {"iat": int(issued), "exp": int(issued + ttl + 60)}
        return jwt.encode({**claims, **times}, key, algorithm=self.settings["alg"])


_SECRETS = frozenset({"token", "value", "password", "key"})


class Secrets:
    """The values that must not be told, in the forms in which a target could echo them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms: set[str] = set()
        for value in values:
            if len(value) >= SHORTEST_SECRET:
                forms |= {value, quote(value, safe=""), base64.b64encode(value.encode()).decode()}
        # the longest first: one secret may hold another
        self._forms = sorted(forms, key=len, reverse=True)

    def redact(self, text: str) -> str:
        """`text` without any of them."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, "[redacted]")
        return text

    def redacted(self, value: Any) -> Any:
        """A JSON value without any of them, in keys and texts."""
        if not self._forms:
            return value
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            return [self.redacted(item) for item in value]
        if isinstance(value, dict):
            return {self.redact(key): self.redacted(item) for key, item in value.items()}
        return value


def identity_variables(caller: Identity) -> dict[str, str]:
    """What templates may say of the caller."""
    return {
        "identity.tenant": caller.tenant,
        "identity.user": caller.user,
        "identity.role": caller.role,
        "identity.merchant": caller.merchant,
    }


def _bearer(token: str) -> Proof:
    return _checked("authorization", f"Bearer {token}")


def _checked(name: str, value: str) -> Proof:
    return Proof(headers=tuple(render_headers(Structure(((name, Fixed(value)),), array=False), {})))


def _spoiled(value: str) -> str:
    """As long as `value` where that is possible, and nothing that could be read back from it."""
    return hashlib.sha256(f"expired {value}".encode()).hexdigest()[: max(len(value), 16)]
