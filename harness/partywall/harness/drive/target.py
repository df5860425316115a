"""Target: the one-verb seam between the driver and any deployment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from partywall.canaries import Keyring

from ..observe.outcome import Outcome
from ..observe.recorder import Recorder
from ..plan.capabilities import Capabilities
from ..plan.identity import Identity
from ..plan.probe import Call

STEADY = "steady"
"""The fault that is none."""


class Client(Protocol):
    """One identity's own connection to a target: its own client and pool, since a shared keep-alive client hides
    real leaks."""

    async def invoke(self, call: Call) -> Outcome:
        """Carry out one call. Raises ContractError for an answer of a wrong shape, LimitHit for one too large,
        Unreachable where nothing could be sent; any other exception is an outcome nobody knows."""

    async def aclose(self) -> None:
        """Give the connection up."""


class Target(Protocol):
    """One deployment in one world. A target may watch other channels (prompts at a mock model): it is handed
    the recorder for that. `keyrings` are those of canaries that the deployment mints itself."""

    name: str
    capabilities: Capabilities
    keyrings: tuple[Keyring, ...]

    async def connect(self, identity: Identity) -> Client:
        """A new client for `identity`."""

    def observe(self, recorder: Recorder) -> None:
        """Where observations outside of calls are to be recorded."""

    async def settle(self) -> None:
        """Record what was observed outside of calls and has not been told yet; called once, after the last call."""

    async def aclose(self) -> None:
        """Stop what was started; mandatory, and the driver limits its time."""


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """What a target is opened with. `options` come from the command line as KEY=VALUE."""

    seed: int = 0
    fault: str = STEADY
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TargetKind:
    """A way to point at deployments, one file each.

    `claims(spec)` says whether this kind understands what stands after `--target`; `open(spec, settings)` makes
    the target of one world; with `per_world=False` one target serves all worlds of a run, kept apart by tenants.
    """

    id: str
    summary: str
    claims: Callable[[str], bool]
    open: Callable[[str, TargetSettings], Awaitable[Target]]
    per_world: bool = True
