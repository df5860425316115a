"""Script: the words in which scenarios say what happens, phase by phase."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from partywall.canaries import Level, Scope, sow

from .identity import Address, Identity
from .operation import OPERATIONS
from .planting import Planting
from .probe import Call, Credential, Probe, ValueOf
from .promised import Promised
from .schedule import Phase, Schedule

SEARCH = "booking reference"
SEARCHABLE = "Booking reference of the open order:"
QUESTION = "Which booking reference belongs to the open order?"
FACT_KEY = "open_order"
ARTIFACT = "report.md"
LAYERS = ("session", "task", "user")
IDEMPOTENT = frozenset({"promises.idempotent"})
CAS = frozenset({"promises.cas"})
"""Needs of probes that retry, and that commit on a version."""
OPERATOR = Identity("operations", "operator", "operator")

_INTO = {
    "append_turn": "message",
    "run_turn": "message",
    "add_memory": "document",
    "put_fact": "fact",
    "put_artifact": "artifact",
}


class Script:
    """Collects phases of probes; probe ids count from p1, so that the same plan gives the same ids.

    Lower ids, keys, names and wording are equal in all scopes on purpose: what keeps two owners apart must be
    the dimension under test, not a lucky difference.
    """

    def __init__(self, mint: Planting, rng: random.Random, world: str = "main") -> None:
        self.mint = mint
        self._wording = rng.randrange(2**32)
        self._world = world
        self._count = 0
        self._phases: list[Phase] = []
        self._memories: dict[Scope, str] = {}

    def pair(self, level: Level, number: int = 0) -> tuple[Scope, Scope]:
        """Two scopes that part at `level` and agree in every other id."""
        mine = ["acme", "ann", "s1", "k1"]
        theirs = ["zeta", "bob", "s2", "k2"]
        tail = f"-{number}" if number else ""
        one = [name + tail for name in mine]
        other = [*one[: level - 1], theirs[level - 1] + tail, *one[level:]]
        return self.mint.scope(*one), self.mint.scope(*other)

    def probe(
        self,
        op: str,
        scope: Scope | Address,
        caller: Identity | None = None,
        client: str = "",
        request_id: str | None = None,
        **arguments: Any,
    ) -> Probe:
        """One probe of `op`; the caller is the owner of the scope where no other is named."""
        if caller is None:
            if not isinstance(scope, Scope):
                raise TypeError("a probe of a raw address names its caller")
            caller = Identity.of(scope)
        self._count += 1
        call = Call(op, caller, scope, arguments, request_id)
        return Probe(f"p{self._count}", client or str(caller), call)

    def plant(
        self,
        op: str,
        scope: Scope,
        caller: Identity | None = None,
        client: str = "",
        layer: str = "",
        words: str = "",
        into: Scope | None = None,
        **arguments: Any,
    ) -> Probe:
        """A probe that plants one new canary of `scope` by `op`.

        `into` addresses another scope than the owner's; `words` stand before the sown text.
        """
        canary = self.mint.canary(scope, op, layer)
        if op == "add_memory" and not words:
            words = SEARCHABLE  # the owner must be able to find it again by words that every scope's text shares
        text = sow(canary.text, _INTO[op], random.Random(f"{self._wording}/{op}"))
        if layer:
            arguments["layer"] = layer
        arguments[OPERATIONS[op].plants] = f"{words} {text}" if words else text
        probe = self.probe(op, into or scope, caller or Identity.of(scope), client, **arguments)
        if op == "add_memory" and into is None:
            self._memories[scope] = probe.id
        return replace(probe, sows=(canary,))

    def again(self, first: Probe, client: str = "") -> Probe:
        """The same call once more, under the same request id; asked only of a target that promises idempotence.

        It plants the same canary: of two clients that send one request, either may be the first to arrive.
        """
        self._count += 1
        return replace(first, id=f"p{self._count}", client=client or first.client, needs=IDEMPOTENT)

    def opening(self, *scopes: Scope) -> list[Probe]:
        """Create the session of each scope, once a session."""
        sessions = {scope.path[:3]: scope for scope in scopes}
        return [self.probe("create_session", scope) for scope in sessions.values()]

    def writes(self, scope: Scope) -> list[Probe]:
        """One canary by every write of the contract."""
        return [
            self.plant("append_turn", scope),
            self.plant("run_turn", scope),
            self.plant("add_memory", scope),
            *(
                self.plant("put_fact", scope, layer=layer, key=f"{FACT_KEY}_{layer}")
                for layer in ("session", "task", "user")
            ),
            self.plant("put_artifact", scope, name=ARTIFACT),
        ]

    def intrusions(self, stranger: Scope, owner: Scope, intruder: Identity) -> list[Probe]:
        """The stranger's canaries, written with its own credentials into the owner's scope."""
        return [
            self.plant("append_turn", stranger, intruder, into=owner),
            self.plant("run_turn", stranger, intruder, into=owner),
            self.plant("add_memory", stranger, intruder, into=owner),
            self.plant("put_fact", stranger, intruder, into=owner, layer="session", key=f"{FACT_KEY}_planted"),
            self.plant("put_artifact", stranger, intruder, into=owner, name=f"planted-{ARTIFACT}"),
        ]

    def reads(self, scope: Scope, caller: Identity | None = None, question: str = QUESTION) -> list[Probe]:
        """Every observation of the contract, addressed to `scope`."""
        probes = [
            self.probe("run_turn", scope, caller, text=question),
            self.probe("list_turns", scope, caller),
            self.probe("session_info", scope, caller),
            self.probe("list_sessions", scope, caller),
            self.probe("context", scope, caller, query=question),
            self.probe("search_memory", scope, caller, query=SEARCH),
            self.probe("list_memories", scope, caller),
            self.probe("list_facts", scope, caller),
            *(self.probe("get_fact", scope, caller, key=f"{FACT_KEY}_{layer}") for layer in LAYERS),
            self.probe("list_artifacts", scope, caller),
            self.probe("get_artifact", scope, caller, name=ARTIFACT),
            # last: a write of one's own drops one's cached answers, and the next to ask would find nothing to be given
            self.probe("cached_answer", scope, caller, query=question),
        ]
        if scope in self._memories:
            probes.append(self.by_id(scope, scope, caller))
        return probes

    def overlapping(self, scope: Scope) -> list[Probe]:
        """Observations meant to run beside another scope's: the question to the agent is tagged, so that a prompt can
        be told from the other's; a cached answer is left out, since its question may bear no tag."""
        question = self.probe("run_turn", scope, text=QUESTION)
        return [
            self.probe("list_turns", scope),
            replace(question, tagged=True),
            self.probe("context", scope, query=QUESTION),
            self.probe("search_memory", scope, query=SEARCH),
            self.probe("list_memories", scope),
            self.probe("list_facts", scope),
        ]

    def deletion(self, owner: Scope, stranger: Scope) -> Probe:
        """`stranger` deletes the memory of `owner` by the id that the target gave it."""
        return self.probe("delete_memory", stranger, memory_id=ValueOf(self._memories[owner]))

    def by_id(self, owner: Scope, viewer: Scope, caller: Identity | None = None) -> Probe:
        """`viewer` asks for the memory of `owner` by the id that the target gave it."""
        return self.probe("get_memory", viewer, caller, memory_id=ValueOf(self._memories[owner]))

    def twins(self, nobody: Probe, somebody: Probe) -> tuple[Probe, Probe]:
        """The same question about what never was and about what is another's, in this order."""
        return nobody, replace(somebody, twin=nobody.id)

    def view(self, op: str, scope: Scope) -> Probe:
        """An operator's look at what is at rest; the scope only says whose world it is."""
        return self.probe(op, scope, OPERATOR)

    def later(self, scope: Scope, seconds: float | Promised) -> Probe:
        """An operator moves the target's clock on; the scope only says whose world it is."""
        return self.probe("advance_clock", scope, OPERATOR, seconds=seconds)

    def filler(self, scope: Scope, times: Promised, text: str = "One more line for the record.") -> list[Probe]:
        """Turns that plant nothing, as many as a promise says: by the bare append where the target has one."""
        appended = replace(self.probe("append_turn", scope, text=text), repeat=times)
        asked = replace(self.probe("run_turn", scope, text=text), repeat=times, instead_of="append_turn")
        return [appended, asked]

    def with_credential(self, credential: Credential, probes: Iterable[Probe]) -> list[Probe]:
        """The same probes, sent with no credential or an expired one, each client on a connection of its own."""
        return [
            replace(
                probe,
                client=f"{probe.client}#{credential}",
                call=replace(probe.call, credential=credential),
            )
            for probe in probes
        ]

    def phase(self, *probes: Probe | Iterable[Probe]) -> None:
        """Send these, clients concurrently, and wait for all of them."""
        flat = [item for entry in probes for item in ((entry,) if isinstance(entry, Probe) else entry)]
        if flat:
            self._phases.append(Phase.of(flat))

    def schedule(self, seed: int = 0) -> Schedule:
        """What has been scripted."""
        return Schedule(tuple(self._phases), seed, self._world)
