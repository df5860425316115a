"""Load traffic: what one simulated user does, visit by visit, beside others whose lower ids are the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from partywall.canaries import Scope, sow

from ..mock_llm import tag
from ..plan import QUESTION, Call, Capabilities, Identity, Planting, Probe
from ..plan.operation import OPERATIONS
from ..plan.script import SEARCH, SEARCHABLE

TENANTS, USERS, TASKS = ("acme", "zeta"), ("ann", "bob"), ("k1", "k2")
LANES = 2
"""How many simulated users share one user's name, each in sessions of its own: one person at two devices."""
BLOCK = len(TENANTS) * len(USERS) * LANES
MOST_MEMORIES = 8
"""Memories of one simulated user: answers that grow without end would measure their own length."""

DOUBLE_CLICKS, REPEATS = 0.10, 0.05
"""Shares of turns that are sent twice at once, and of turns sent again as if their answer had been lost."""

_WRITES = {"append_turn": "message", "run_turn": "message", "add_memory": "document"}


@dataclass(frozen=True, slots=True)
class Step:
    """One thing a user does: a probe, its double click at the same moment, its repeat after the answer."""

    probe: Probe
    twice: Probe | None = None
    again: Probe | None = None


def owner(number: int) -> tuple[str, str, int]:
    """Tenant, user and lane of a simulated user: two neighbours part at the tenant, and agree in all below.

    With 2 workers, one has all of `acme` and the other all of `zeta`: what one plants, the other would see.
    """
    block, place = divmod(number, BLOCK)
    tail = f"-{block}" if block else ""
    tenant = TENANTS[place % len(TENANTS)]
    user = USERS[place // len(TENANTS) % len(USERS)]
    return tenant + tail, user, place // (len(TENANTS) * len(USERS))


class Traffic:
    """The steps of one simulated user, without end. The same seed and number give the same steps.

    A user looks only where content of its own was acknowledged: whoever has nothing there can show by its own
    content neither that it would see another's nor that it would not. Questions are worded alike in all tenants.

    With `tagged` a turn's text says whose it is, so that the prompt it leads to can be told from those beside it: every
    turn that plants something, and half of those that only ask. The others are worded alike, for what is keyed by the
    wording leaks only there.
    """

    def __init__(
        self, mint: Planting, number: int, capabilities: Capabilities, rng: random.Random, tagged: bool = False
    ) -> None:
        tenant, user, self._lane = owner(number)
        self._mint = mint
        self._number = number
        self._capabilities = capabilities
        self._rng = rng
        self._tagged = tagged
        self._names = (tenant, user)
        self._identity = Identity.of(mint.scope(tenant, user))
        self._count = 0
        self._memories = 0
        self._acknowledged: set[str] = set()
        self._spoken: Scope | None = None
        self._steps = self._visits()

    @property
    def identity(self) -> Identity:
        """Who it is."""
        return self._identity

    def next(self) -> Step:
        """What it does now; to be asked once the step before has ended."""
        return next(self._steps)

    def acknowledged(self, probe: Probe) -> None:
        """`probe` was answered `ok`."""
        self._acknowledged.add(probe.id)

    def closing(self) -> list[Step]:
        """What it does when the run ends in the middle of a visit: look at its session once more, since what was
        said last would otherwise never be read again."""
        if self._spoken is None or not self._offers("list_turns"):
            return []
        return [Step(self._probe("list_turns", self._spoken))]

    def _visits(self) -> Iterator[Step]:
        visit = 0
        while True:
            session = f"s{LANES * visit + self._lane + 1}"
            visit += 1
            scopes = [self._mint.scope(*self._names, session, task) for task in self._rng.sample(TASKS, len(TASKS))]
            if self._offers("create_session"):
                yield Step(self._probe("create_session", scopes[0]))
            for scope in scopes:
                yield from self._stay(scope)

    def _stay(self, scope: Scope) -> Iterator[Step]:
        """Some work on one task: what is written first can be looked for afterwards."""
        spoke = False
        writes = [op for op in _WRITES if self._offers(op)]
        self._rng.shuffle(writes)
        for op in writes:
            if op == "add_memory" and self._memories >= MOST_MEMORIES:
                continue
            step = self._written(op, scope)
            if op != "add_memory":
                self._spoken = scope
            yield step
            if step.probe.id in self._acknowledged:
                spoke |= op != "add_memory"
                self._memories += op == "add_memory"
        reads = [self._read(op, scope) for op in self._readable(spoke)]
        self._rng.shuffle(reads)
        for probe in reads:
            yield Step(probe)

    def _readable(self, spoke: bool) -> list[str]:
        found = ["list_turns", "context", "run_turn", "cached_answer", "list_turns", "cached_answer"] if spoke else []
        found += ["search_memory", "list_memories"] if self._memories else []
        return [op for op in found if self._offers(op)]

    def _read(self, op: str, scope: Scope) -> Probe:
        asked = {
            "run_turn": {"text": QUESTION},
            "context": {"query": QUESTION},
            "cached_answer": {"query": QUESTION},
            "search_memory": {"query": SEARCH},
        }
        probe = self._probe(op, scope, **asked.get(op, {}))
        return self._marked(probe) if op == "run_turn" and self._rng.random() < 0.5 else probe

    def _marked(self, probe: Probe) -> Probe:
        """The probe with its tag in its text, where prompts are watched."""
        call = probe.call
        text = f"{call.arguments['text']} {tag(probe.id)}"
        return replace(probe, call=replace(call, arguments={**call.arguments, "text": text})) if self._tagged else probe

    def _written(self, op: str, scope: Scope) -> Step:
        canary = self._mint.canary(scope, op)
        override = self._capabilities.reach.get(op)
        if override:
            canary = replace(canary, reach={**canary.reach, **override})
        text = sow(canary.text, _WRITES[op], self._rng)
        if op == "add_memory":
            text = f"{SEARCHABLE} {text}"
        probe = replace(self._probe(op, scope, **{OPERATIONS[op].plants: text}), sows=(canary,))
        if op == "run_turn":
            probe = self._marked(probe)
        dice = self._rng.random()
        if op == "add_memory" or not self._capabilities.promises.get("idempotent"):
            return Step(probe)
        probe = replace(probe, call=replace(probe.call, request_id=f"r-{probe.id}"))
        if dice < DOUBLE_CLICKS:
            return Step(probe, twice=self._copy(probe, f"{probe.client}+2"))
        return Step(probe, again=self._copy(probe, probe.client) if dice < DOUBLE_CLICKS + REPEATS else None)

    def retried(self, probe: Probe) -> Probe:
        """The same request under the same id, sent again because its end is unknown."""
        return self._copy(probe, probe.client)

    def _copy(self, probe: Probe, client: str) -> Probe:
        """The canary is planted once: the copy plants nothing new."""
        self._count += 1
        return replace(probe, id=f"u{self._number}-{self._count}", client=client, sows=())

    def _probe(self, op: str, scope: Scope, **arguments: str) -> Probe:
        self._count += 1
        call = Call(op, self._identity, scope, arguments)
        return Probe(f"u{self._number}-{self._count}", f"u{self._number}", call)

    def _offers(self, op: str) -> bool:
        return op in self._capabilities.operations
