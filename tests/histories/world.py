"""World: writes one history by hand, through the recorder, under a clock that ticks one microsecond an entry."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from partywall.canaries import DEFAULT_PREFIX, Canary, Keyring, Level, Scope
from partywall.harness.observe.history import Header, History
from partywall.harness.observe.outcome import Outcome
from partywall.harness.observe.recorder import Recorder
from partywall.harness.plan import OPERATIONS, Address, Call, Capabilities, Identity, Planting, Probe, Trial
from partywall.harness.plan.operation import Operation
from partywall.harness.plan.probe import Credential

OK = Outcome("ok")
KEY = b"golden histories are minted under this key"
EVERYTHING = frozenset(
    {
        "append_turn", "run_turn", "list_turns", "context", "add_memory", "search_memory", "list_memories",
        "get_memory", "put_fact", "get_fact", "list_facts", "put_artifact", "get_artifact", "list_artifacts",
        "cached_answer",
    }
)  # fmt: skip

ANN = Scope("acme", "ann", "s1", "k1")
OTHER_TENANT = Scope("zeta", "ann", "s1", "k1")
OTHER_USER = Scope("acme", "bob", "s1", "k1")
OTHER_SESSION = Scope("acme", "ann", "s2", "k1")
OTHER_TASK = Scope("acme", "ann", "s1", "k2")


class World:
    """Says who wrote what and who was shown what; `history` is what a recorder would have written of it."""

    tick = 1_000
    """Nanoseconds from one entry to the next."""

    def __init__(self, *operations: str, **capabilities: Any) -> None:
        keyring = Keyring.derive(KEY, "golden")
        self.mint = Planting(keyring)
        self.recorder = Recorder(
            Header(
                trial=Trial("golden", "golden:World"),
                capabilities=Capabilities(frozenset(operations) or EVERYTHING, **capabilities),
                keyrings=(keyring.to_record(),),
                prefix=DEFAULT_PREFIX,
                exercises=("isolation",),
            ),
            clock=itertools.count(self.tick, self.tick).__next__,
        )
        self._count = itertools.count(1)

    @property
    def history(self) -> History:
        """What was recorded so far."""
        return self.recorder.history()

    def canary(self, owner: Scope, op: str, layer: str = "") -> Canary:
        """A new canary of `owner`."""
        return self.mint.canary(owner, op, layer)

    def write(
        self,
        op: str,
        owner: Scope,
        *,
        into: Scope | Address | None = None,
        caller: Scope | None = None,
        canary: Canary | None = None,
        outcome: Outcome = OK,
        credential: Credential = "valid",
        **arguments: Any,
    ) -> Canary:
        """One canary of `owner` planted by `op`; `into` addresses another scope, `caller` bears other credentials."""
        canary = canary or self.canary(owner, op, str(arguments.get("layer", "")))
        operation: Operation = OPERATIONS[op]
        arguments = {operation.plants: f"Please note voucher {canary.text}.", **arguments}
        self.call(
            op, into or owner, outcome, caller=caller or owner, sows=(canary,), credential=credential, **arguments
        )
        return canary

    def read(self, op: str, viewer: Scope | Address, *shown: Any, caller: Scope | None = None, **arguments: Any) -> str:
        """`viewer` asks by `op` and is shown these canaries (or texts), in the shape that the operation has."""
        texts = [f"We have voucher {item.text}." if isinstance(item, Canary) else str(item) for item in shown]
        return self.call(op, viewer, Outcome("ok", _shaped(op, texts)), caller=caller, **arguments)

    def call(
        self,
        op: str,
        scope: Scope | Address,
        outcome: Outcome,
        *,
        caller: Scope | None = None,
        sows: tuple[Canary, ...] = (),
        credential: Credential = "valid",
        twin: str = "",
        **arguments: Any,
    ) -> str:
        """One call with that outcome; gives the id of its probe."""
        identity = Identity.of(caller) if caller else Identity(str(scope.tenant), str(scope.user))
        call = Call(op, identity, scope, arguments, credential=credential)
        probe = Probe(f"p{next(self._count)}", str(identity), call, sows, twin)
        self.recorder.invoked(probe, probe.call, probe.client)
        self.recorder.completed(probe.id, outcome)
        return probe.id

    def turns(self, *scopes: Scope) -> dict[Scope, Canary]:
        """Each scope appends one turn of its own."""
        return {scope: self.write("append_turn", scope) for scope in scopes}


def of_levels(*levels: Level) -> dict[str, Any]:
    """Capabilities that keep only these levels apart."""
    return {"dimensions": frozenset(levels)}


def _shaped(op: str, texts: Sequence[str]) -> Any:
    if op == "run_turn":
        return {"text": " ".join(texts)}
    if op in ("get_memory", "get_artifact", "cached_answer"):
        return " ".join(texts)
    return list(texts)
