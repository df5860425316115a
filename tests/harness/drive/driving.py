"""Driving: an adapter in, a history out; probes by the handful."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from partywall.canaries import DEFAULT_PREFIX, Keyring, Scope
from partywall.harness.drive.driver import Limits, Report, closed, drive
from partywall.harness.drive.targets.function import FunctionTarget
from partywall.harness.observe.history import Header, History
from partywall.harness.observe.outcome import Outcome
from partywall.harness.observe.recorder import Recorder
from partywall.harness.plan import Address, Call, Identity, Phase, Probe, Schedule, Trial

ANN = Scope("acme", "ann", "s1", "k1")
BOB = Scope("acme", "bob", "s1", "k1")
SHORT = Limits(call_timeout=0.2)
_KEYRING = Keyring.derive(b"drive tests are minted under this key", "test")


def probe(id: str, op: str = "list_turns", scope: Scope | Address = ANN, client: str = "", **arguments: Any) -> Probe:
    """One probe; its client is its user where no other is named."""
    caller = Identity(str(scope.tenant), str(scope.user))
    return Probe(id, client or str(caller), Call(op, caller, scope, arguments))


def driven(adapter: Any, *phases: Iterable[Probe], limits: Limits = SHORT) -> tuple[History, Report]:
    """The history of these phases on `adapter`, and what the driver says beside it."""
    return asyncio.run(_drive(adapter, phases, limits))


async def _drive(adapter: Any, phases: Iterable[Iterable[Probe]], limits: Limits) -> tuple[History, Report]:
    target = FunctionTarget(adapter, "test")
    header = Header(Trial("test", "test"), target.capabilities, (_KEYRING.to_record(),), DEFAULT_PREFIX)
    recorder = Recorder(header)
    report = await drive(Schedule(tuple(Phase.of(phase) for phase in phases)), target, recorder, limits)
    await closed(target)
    return recorder.history(), report


def outcome_of(adapter: Any, op: str = "list_turns", limits: Limits = SHORT, **arguments: Any) -> Outcome:
    """How one call of `op` ends."""
    history, _ = driven(adapter, [probe("p1", op, **arguments)], limits=limits)
    return history.outcome("p1")
