"""Turns that many clients append to one session at once must all be there, once, in one order for every reader."""

import random
from collections.abc import Iterator
from dataclasses import replace

from partywall.canaries import Scope
from partywall.harness.plan import IDEMPOTENT, Guarantee, Identity, Pack, Planting, Probe, Scenario, Schedule, Script

CLIENTS = 8
CALLS = 16
AGENT_TURNS = 2


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Eight clients on one hot session, two on each of three cold ones, all from one barrier; then full reads by two.

    Every round has sessions of its own: one that is full refuses, and refusals are no load.
    """
    script = Script(mint, rng)
    for number in range(size):
        hot, *cold = (mint.scope(*_numbered(names, number)) for names in _SESSIONS)
        script.phase(script.opening(hot, *cold))
        script.phase(_load(script, rng, hot, cold))
        script.phase(_final(script, (hot, *cold)))
    return script.schedule()


_SESSIONS = (
    ("acme", "ann", "s1", "k1"),
    ("acme", "ann", "s2", "k1"),
    ("acme", "bob", "s1", "k1"),
    ("zeta", "ann", "s1", "k1"),
)
"""A hot one and three cold: of the same user, of another user, of another tenant, ids colliding."""


def _numbered(names: tuple[str, ...], number: int) -> tuple[str, ...]:
    return tuple(f"{name}-{number}" for name in names) if number else names


def _client(scope: Scope, number: int) -> str:
    """One connection of several that the same identity holds."""
    return f"{Identity.of(scope)}/{scope.session}#{number}"


def _load(script: Script, rng: random.Random, hot: Scope, cold: list[Scope]) -> Iterator[Probe]:
    """About 70 % appends, 25 % reads, and retries: after the answer, from another client, with another body."""
    for index in range(CALLS):
        for n in range(CLIENTS):
            client = _client(hot, n)
            name = f"r{n}-{index}"
            if index and rng.random() < 0.25:
                yield script.probe("list_turns", hot, client=client)
                continue
            first = script.plant("append_turn", hot, client=client, request_id=name)
            yield first
            if index % 8 == 3:
                yield script.again(first)
            if index % 8 == 5:  # meets the first attempt, or comes close behind it
                yield script.again(first, _client(hot, (n + 1) % CLIENTS))
            if index % 16 == 6:
                yield replace(script.plant("append_turn", hot, client=client, request_id=name), needs=IDEMPOTENT)
    for n in range(CLIENTS * AGENT_TURNS):  # a turn of the agent is the append of a target that has no bare one
        yield replace(script.plant("run_turn", hot, client=_client(hot, n % CLIENTS)), instead_of="append_turn")
    for scope in cold:
        for n in range(2):
            for index in range(4):  # the same ids as on the hot session: a request id means nothing outside its scope
                yield script.plant("append_turn", scope, client=_client(scope, n), request_id=f"r{n}-{index}")
            yield script.probe("list_turns", scope, client=_client(scope, n))


def _final(script: Script, scopes: tuple[Scope, ...]) -> list[Probe]:
    return [script.probe("list_turns", scope, client=_client(scope, n)) for scope in scopes for n in range(2)]


SCENARIO = Scenario(
    id="append_stress",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ATOMICITY, Guarantee.ORDER, Guarantee.DURABILITY, Guarantee.IDEMPOTENCE}),
    needs=frozenset({"append_turn | run_turn", "list_turns"}),
    plan=plan,
    pack=Pack.STANDARD,
)
