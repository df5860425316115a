"""Stage: the deployments that demonstrations are carried out on, opened when first wanted, closed together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from partywall.canaries import Keyring, Scope

from ..drive.driver import Limits, closed, within
from ..drive.resolve import kind_of
from ..drive.target import Client, Target, TargetKind, TargetSettings
from ..errors import Refused, TargetError, Unreachable
from ..observe.outcome import NOT_IMPLEMENTED, Outcome
from ..observe.recorder import Recorder
from ..plan import Call, Capabilities, Identity, Planting, Scenario
from ..run import OPEN_TIMEOUT, RunPlan, RunResult, verify

REFERENCE = "reference"
FAULTY = "reference:mutant=M12"
"""The same agent with an answer cache that is keyed by the question alone."""

CALL_TIMEOUT = Limits().call_timeout


class NotShown(Exception):
    """The deployment lacks something, or did not answer, so that the demonstration cannot be given."""


class Deployment:
    """One open target. Every identity, and every further `client` of it, has a connection of its own."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._clients: dict[tuple[Identity, str], Client] = {}
        self._calls = 0

    @property
    def operations(self) -> frozenset[str]:
        """What it offers."""
        return self.target.capabilities.operations

    async def ask(
        self,
        op: str,
        scope: Scope,
        caller: Identity | None = None,
        client: str = "",
        request_id: str | None = None,
        **arguments: Any,
    ) -> Outcome:
        """How one call ended; the caller is the owner of the scope where no other is named.

        Raises NotShown where the target lacks the operation or nobody knows what became of the call, TargetError
        where it is gone.
        """
        if op not in self.operations:
            raise NotShown(f"the target lacks {op}")
        self._calls += 1
        caller = caller or Identity.of(scope)
        call = Call(op, caller, scope, arguments, request_id, CALL_TIMEOUT, probe=f"d{self._calls}")
        connection = await self._client(caller, client)
        try:
            outcome = await connection.invoke(call)
        except Unreachable as error:
            raise TargetError(f"target {self.target.name!r} is gone: {error}") from error
        except Refused as refusal:
            return Outcome("fail", reason=refusal.reason, code=refusal.code)
        except NotImplementedError:
            return Outcome("fail", reason=f"the target does not implement {op}", code=NOT_IMPLEMENTED)
        except Exception as error:  # a target may fail in any way, and then it may have applied the call or not
            outcome = Outcome(reason=f"{type(error).__name__}: {error}", code="error")
        if outcome.status == "info":
            raise NotShown(_unknown(op, outcome))
        return outcome

    async def value(self, op: str, scope: Scope, caller: Identity | None = None, **arguments: Any) -> Any:
        """The value of a call that has to succeed. Raises NotShown where it did not."""
        outcome = await self.ask(op, scope, caller, **arguments)
        if outcome.status != "ok":
            raise NotShown(_unknown(op, outcome))
        return outcome.value

    async def texts(self, scope: Scope) -> list[str]:
        """What the session's turns say, in order."""
        return [turn["text"] for turn in await self.turns(scope)]

    async def turns(self, scope: Scope) -> list[dict[str, Any]]:
        """The session's turns, in order."""
        listed: list[dict[str, Any]] = await self.value("list_turns", scope)
        return listed

    async def aclose(self) -> None:
        """Close every connection, then the target."""
        for client in self._clients.values():
            await closed(client)
        await closed(self.target)

    async def _client(self, identity: Identity, name: str) -> Client:
        if (identity, name) not in self._clients:
            self._clients[identity, name] = await self.target.connect(identity)
        return self._clients[identity, name]


class Stage:
    """Where demonstrations are carried out: the reference, and the same agent with one fault seeded.

    Deployments are shared, so each demonstration has tenants of its own.
    """

    def __init__(
        self,
        reference: str = REFERENCE,
        faulty: str = FAULTY,
        seed: int = 1,
        resolve: Callable[[str], TargetKind] = kind_of,
    ) -> None:
        self.faulty_name = faulty
        self._reference = reference
        self._seed = seed
        self._resolve = resolve
        self._open: dict[tuple[str, str], Deployment] = {}
        self.keyring = Keyring.derive(hashlib.sha256(f"partywall demo {seed}".encode()).digest(), f"demo-{seed}")
        self.planting = Planting(self.keyring)

    async def __aenter__(self) -> Stage:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for deployment in self._open.values():
            await deployment.aclose()

    async def reference(self, **limits: float) -> Deployment:
        """The agent as it stands; with `limits` (seconds) a deployment of its own that keeps to them."""
        return await self._deployment(self._reference, limits)

    async def faulty(self) -> Deployment:
        """The agent with one part replaced."""
        return await self._deployment(self.faulty_name, {})

    async def verified(self, scenario: Scenario, faulty: bool = False) -> RunResult:
        """What every check says of a scenario on a deployment that stays open."""
        deployment = await (self.faulty() if faulty else self.reference())

        async def lend(spec: str, settings: TargetSettings) -> Target:
            return _Lent(deployment.target)

        kind = TargetKind("lent", "a deployment that stays open", lambda spec: False, lend, per_world=False)
        spec = self.faulty_name if faulty else self._reference
        return await verify(RunPlan(target=spec, seed=self._seed), (scenario,), kind=kind)

    async def _deployment(self, spec: str, options: Mapping[str, Any]) -> Deployment:
        key = (spec, json.dumps(options, sort_keys=True))
        if key not in self._open:
            kind = self._resolve(spec)
            try:
                target = await within(
                    OPEN_TIMEOUT, lambda: kind.open(spec, TargetSettings(self._seed, options=options))
                )
            except TimeoutError:
                raise TargetError(f"target {spec!r} did not open within {OPEN_TIMEOUT:g} s") from None
            self._open[key] = Deployment(target)
        return self._open[key]


class _Lent:
    """A target that whoever borrowed it cannot close."""

    def __init__(self, target: Target) -> None:
        self.name = target.name
        self.capabilities: Capabilities = target.capabilities
        self.keyrings: tuple[Keyring, ...] = target.keyrings
        self._target = target

    async def connect(self, identity: Identity) -> Client:
        return await self._target.connect(identity)

    def observe(self, recorder: Recorder) -> None:
        self._target.observe(recorder)

    async def settle(self) -> None:
        await self._target.settle()

    async def aclose(self) -> None:
        """Its owner closes it."""


def _unknown(op: str, outcome: Outcome) -> str:
    return f"{op} answered {outcome.status} ({outcome.code}: {outcome.reason[:200]})"


def problem_of(outcome: Outcome) -> dict[str, Any]:
    """The problem document (RFC 9457) in a refusal's reason; empty where there is none."""
    _, brace, rest = outcome.reason.partition("{")
    try:
        return dict(json.loads(brace + rest))
    except ValueError:
        return {}
