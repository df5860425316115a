"""Profile: a deployment over HTTP as the client uses it, compiled and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...plan.capabilities import Capabilities
from ...plan.identity import Identity
from .auth import Credentials, Secrets
from .classes import Classes
from .extraction import Extraction, OkWhen
from .sessions import SessionRule
from .template import EMPTY, Inexpressible, Node

_NONCE = r"(?:[0-9a-f]{6}-)?"


@dataclass(frozen=True, slots=True)
class Route:
    """How one operation is asked for, and how its answer is read. `identity` names credentials other than the
    caller's own; `timeout` is in seconds."""

    method: str
    path: Node
    query: Node
    headers: Node
    body: Node | None
    body_kind: Literal["none", "json", "form"]
    classes: Classes
    ok_when: OkWhen | None
    extraction: Extraction
    identity: str = ""
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Identities:
    """Credentials by pattern: `tenant/user`, `tenant/*`, `*`; a name without `/` is only for `as`."""

    patterns: Mapping[str, Credentials] = field(default_factory=dict)

    def of(self, caller: Identity) -> Credentials:
        """The credentials of the nearest pattern. A run may put a nonce before the tenant's name, which patterns
        leave out. Raises Inexpressible where none matches."""
        if not self.patterns:
            return Credentials()
        for pattern in sorted(self.patterns, key=_breadth):
            if _matches(pattern, caller):
                return self.patterns[pattern]
        known = ", ".join(sorted(self.patterns))
        raise Inexpressible(f"no identity of the profile matches {str(caller)!r}; known: {known}")

    def named(self, name: str) -> Credentials:
        """The credentials of that name."""
        return self.patterns[name]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the target may be asked to bear."""

    rps: float | None = None
    concurrency: int | None = None


@dataclass(frozen=True, slots=True)
class MockModel:
    """A mock model is to be served on `port` of this machine for the time of the run, with the fault of that id."""

    port: int
    fault: str = "steady"


@dataclass(frozen=True, slots=True)
class Profile:
    """All that is known of a deployment before it is called. `timeout` is in seconds."""

    name: str
    base_url: str
    capabilities: Capabilities
    routes: Mapping[str, Route]
    identities: Identities = field(default_factory=Identities)
    sessions: SessionRule = field(default_factory=SessionRule)
    variables: Mapping[str, Any] = field(default_factory=dict)
    headers: Node = EMPTY
    timeout: float | None = None
    limits: Limits = field(default_factory=Limits)
    model: MockModel | None = None
    secrets: Secrets = field(default_factory=Secrets)


def _breadth(pattern: str) -> int:
    return 2 if pattern == "*" else 1 if pattern.endswith("/*") else 0


def _matches(pattern: str, caller: Identity) -> bool:
    tenant, slash, user = pattern.rpartition("/")
    if not slash:
        return pattern == "*"
    return user in ("*", caller.user) and bool(re.fullmatch(_NONCE + re.escape(tenant), caller.tenant))
