"""Of two commits from one version one must be refused, a stale one too; a retry under one id must change nothing."""

import random
from collections.abc import Iterable
from dataclasses import replace

from partywall.canaries import Scope
from partywall.harness.plan import (
    CAS,
    IDEMPOTENT,
    Guarantee,
    Identity,
    Pack,
    Planting,
    Probe,
    Scenario,
    Schedule,
    Script,
    ValueOf,
)


def plan(mint: Planting, rng: random.Random, size: int) -> Schedule:
    """Random load seldom meets these cases: each is made by hand, in a session of its own."""
    script = Script(mint, rng)
    for number in range(size):
        tail = f"-{number}" if number else ""
        _one_version(script, mint.scope("acme", "ann", f"s1{tail}", "k1"))
        _stale_version(script, mint.scope("acme", "ann", f"s2{tail}", "k1"))
        _one_request(
            script,
            mint.scope("acme", "ann", f"s3{tail}", "k1"),
            [mint.scope("acme", "ann", f"s4{tail}", "k1"), mint.scope("acme", "bob", f"s3{tail}", "k1")],
        )
    return script.schedule()


def _one_version(script: Script, scope: Scope) -> None:
    """Both read the version, both commit: the second must be refused, and so must whoever tries it once more."""
    first = script.plant("append_turn", scope, client=_client(scope, 1))
    script.phase(script.opening(scope))
    script.phase(first)
    script.phase(_commit(script, scope, 1, first), _commit(script, scope, 2, first))
    script.phase(_commit(script, scope, 3, first))
    _look(script, scope)


def _stale_version(script: Script, scope: Scope) -> None:
    """A commit on what was read before another wrote is refused; one on what is there is not."""
    first = script.plant("append_turn", scope, client=_client(scope, 1))
    between = script.plant("append_turn", scope, client=_client(scope, 2))
    script.phase(script.opening(scope))
    script.phase(first)
    script.phase(between)
    script.phase(_commit(script, scope, 1, first))
    script.phase(_commit(script, scope, 1, between))
    _look(script, scope)


def _one_request(script: Script, scope: Scope, others: list[Scope]) -> None:
    """One id: again after the answer, from two clients at once, with another body, and in other scopes as another's."""
    name = "request-1"
    script.phase(script.opening(scope, *others))
    first = script.plant("append_turn", scope, client=_client(scope, 1), request_id=name)
    script.phase(first)
    script.phase(script.again(first))
    script.phase(script.again(first, _client(scope, 1)), script.again(first, _client(scope, 2)))
    script.phase(
        replace(
            script.plant("append_turn", scope, client=_client(scope, 2), request_id=name),
            needs=IDEMPOTENT,
        )
    )
    together = script.plant("append_turn", scope, client=_client(scope, 1), request_id="request-2")
    script.phase(together, script.again(together, _client(scope, 2)))
    for other in others:
        script.phase(
            script.plant("append_turn", other, client=_client(other, 1), request_id="request-3"),
            script.plant("append_turn", other, client=_client(other, 2)),
        )
        script.phase(script.plant("append_turn", other, client=_client(other, 1), request_id=name))
    for each in (scope, *others):
        _look(script, each)


def _commit(script: Script, scope: Scope, number: int, seen: Probe) -> Probe:
    version = ValueOf(seen.id, field="version")
    return replace(
        script.plant("append_turn", scope, client=_client(scope, number), expected_version=version),
        needs=CAS,
    )


def _look(script: Script, scope: Scope) -> None:
    reads: Iterable[Probe] = [script.probe("list_turns", scope, client=_client(scope, n)) for n in (1, 2)]
    script.phase(reads)


def _client(scope: Scope, number: int) -> str:
    return f"{Identity.of(scope)}/{scope.session}#{number}"


SCENARIO = Scenario(
    id="commit_conflict",
    hazard=__doc__,
    exercises=frozenset({Guarantee.ATOMICITY, Guarantee.IDEMPOTENCE}),
    needs=frozenset({"append_turn", "list_turns", "promises.cas | promises.idempotent"}),
    plan=plan,
    pack=Pack.STANDARD,
)
