"""Probe: one planned call, and the canaries it plants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from partywall.canaries import Canary, Scope

from .identity import Address, Identity
from .promised import Promised

Credential = Literal["valid", "none", "expired"]


@dataclass(frozen=True, slots=True)
class ValueOf:
    """An argument that is known only at run time: the id that an earlier probe's value holds.

    `altered` makes an id of the same form that was never given out: a target may refuse a malformed id otherwise
    than a missing one, and that is no existence signal. `field` names another part of the value than its id.
    """

    probe: str
    altered: bool = False
    field: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """What a client sends: `scope` is addressed, `caller` bears the credentials, `timeout` is in seconds, 0 for the
    run's own.

    `credential` says what the caller shows for itself: its own, none at all, or one that has expired. `probe` and
    `tagged` are filled in from the probe when the call is sent. `fault` strikes the model calls that it causes, where
    the target has a mock LLM behind it; `Schedule.under` fills it in.
    """

    op: str
    caller: Identity
    scope: Scope | Address
    arguments: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    timeout: float = 0.0
    replica: int = 0
    credential: Credential = "valid"
    probe: str = ""
    tagged: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """One planned call. `client` names the connection it goes out by; probes of one client keep their order.

    `twin` names an earlier probe that asked the same of something that never was: the two answers must look alike.
    `tagged` lets a target put a self-tag into the question, so that a prompt caught at the model is known to be this
    probe's; never where wording must be identical, since a nonce in the question disables the cache that leaks.
    `faulted` has the trial's fault strike it. `needs` are promises without which it would ask for nothing;
    where the target has the operation `instead_of`, that one asks the same and this one is left out.
    `repeat` sends it as often as a promise says, one call after the other; it then plants nothing, since every call
    would plant the same.
    """

    id: str
    client: str
    call: Call
    sows: tuple[Canary, ...] = ()
    twin: str = ""
    tagged: bool = False
    faulted: bool = False
    needs: frozenset[str] = frozenset()
    instead_of: str = ""
    repeat: Promised | None = None

    @property
    def awaits(self) -> frozenset[str]:
        """The probes whose values this one's arguments hold."""
        return frozenset(value.probe for value in self.call.arguments.values() if isinstance(value, ValueOf))
