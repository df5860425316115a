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

    Every round has sessions of its own: one that is full refuses, and refusals are no load. The agent's own turns go
    to a session apart, since a reply stands between them and takes a number too.
    """
    script = Script(mint, rng)
    for number in range(size):
        hot, agents, *cold = (mint.scope(*_numbered(names, number)) for names in _SESSIONS)
        script.phase(script.opening(hot, agents, *cold))
        load = list(_load(script, rng, hot, cold))
        load += [
            replace(script.plant("run_turn", agents, client=_client(agents, n)), tagged=True)
            for n in range(CLIENTS)
            for _ in range(AGENT_TURNS)
        ]
        script.phase(load)
        script.phase(_final(script, (hot, agents, *cold)))
    return script.schedule()


_SESSIONS = (
    ("acme", "ann", "s1", "k1"),
    ("acme", "ann", "s3", "k1"),
    ("acme", "ann", "s2", "k1"),
    ("acme", "bob", "s1", "k1"),
    ("zeta", "ann", "s1", "k1"),
)
"""A hot one, one for the agent, and cold ones: of the same user, of another user, of another tenant, ids colliding."""


def _numbered(names: tuple[str, ...], number: int) -> tuple[str, ...]:
    return tuple(f"{name}-{number}" for name in names) if number else names


def _client(scope: Scope, number: int) -> str:
    """One connection of several that the same identity holds."""
    return f"{Identity.of(scope)}/{scope.session}#{number}"


def _load(script: Script, rng: random.Random, hot: Scope, cold: list[Scope]) -> Iterator[Probe]:
    """About 70 % appends, 25 % reads, and retries: after the answer, from another client, with another body."""
    for n in range(CLIENTS):
        client = _client(hot, n)
        for index in range(CALLS):
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
