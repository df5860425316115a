"""Probe: one planned call, and the canaries it plants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from partywall.canaries import Canary, Scope

from .identity import Address, Identity

DEFAULT_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class ValueOf:
    """An argument that is known only at run time: the id that an earlier probe's value holds."""

    probe: str


@dataclass(frozen=True, slots=True)
class Call:
    """What a client sends. `timeout` is in seconds; `scope` is addressed, `caller` bears the credentials."""

    op: str
    caller: Identity
    scope: Scope | Address
    arguments: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    timeout: float = DEFAULT_TIMEOUT
    replica: int = 0


@dataclass(frozen=True, slots=True)
class Probe:
    """One planned call. `client` names the connection it goes out by; probes of one client keep their order."""

    id: str
    client: str
    call: Call
    sows: tuple[Canary, ...] = ()

    @property
    def awaits(self) -> frozenset[str]:
        """The probes whose values this one's arguments hold."""
        return frozenset(value.probe for value in self.call.arguments.values() if isinstance(value, ValueOf))
