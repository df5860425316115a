"""Rate limits: a burst, a refill by the deployment's clock, and nothing told of the neighbours."""

from __future__ import annotations

import asyncio

import pytest
from partywall.canaries import Scope
from partywall.reference_impl.clock import Clock
from partywall.reference_impl.keys import Key, Keys
from partywall.reference_impl.rates import Rate, RateLimits, TokenBuckets
from partywall.reference_impl.refusals import Limited

from .deployment import Deploy, Deployment

ANN, BOB, ZOE = (Scope(*at, "s1", "k1") for at in (("acme", "ann"), ("acme", "bob"), ("zeta", "ann")))


class _Still(Clock):
    """A clock that stands until it is moved."""

    at = 1000.0

    def now(self) -> float:
        return self.at


def _admitted(limits: RateLimits, scope: Scope, calls: int) -> int:
    async def send() -> int:
        taken = 0
        for _ in range(calls):
            try:
                await limits.admit(scope)
                taken += 1
            except Limited:
                pass
        return taken

    return asyncio.run(send())


def test_a_burst_is_taken_and_comes_back_with_time() -> None:
    clock = _Still()
    limits = RateLimits(Keys(), clock, TokenBuckets(), Rate(5, 2.0), Rate(100, 100.0))
    assert _admitted(limits, ANN, 9) == 5
    clock.at += 1.0
    assert _admitted(limits, ANN, 9) == 2
    clock.at += 1000.0
    assert _admitted(limits, ANN, 9) == 5


def test_a_clock_that_goes_back_takes_nothing_away() -> None:
    clock = _Still()
    limits = RateLimits(Keys(), clock, TokenBuckets(), Rate(5, 2.0), Rate(100, 100.0))
    assert _admitted(limits, ANN, 2) == 2
    clock.at -= 500.0
    assert _admitted(limits, ANN, 9) == 3


def test_a_tenants_users_share_its_bucket_and_no_other_tenant_pays() -> None:
    limits = RateLimits(Keys(), _Still(), TokenBuckets(), Rate(5, 1.0), Rate(7, 1.0))
    assert (_admitted(limits, ANN, 9), _admitted(limits, BOB, 9), _admitted(limits, ZOE, 9)) == (5, 2, 5)


def test_what_the_user_is_refused_costs_the_tenant_nothing() -> None:
    limits = RateLimits(Keys(), _Still(), TokenBuckets(), Rate(2, 1.0), Rate(4, 1.0))
    assert (_admitted(limits, ANN, 50), _admitted(limits, BOB, 50)) == (2, 2)


def test_a_burst_of_nothing_is_no_limit() -> None:
    limits = RateLimits(Keys(), _Still(), TokenBuckets(), Rate(0, 1.0), Rate(0, 1.0))
    assert _admitted(limits, ANN, 2000) == 2000


def test_the_refusal_says_when_to_come_back_and_nothing_of_who_sent_what() -> None:
    async def refused(user: Rate, tenant: Rate, last: Scope) -> Limited:
        limits = RateLimits(Keys(), _Still(), TokenBuckets(), user, tenant)
        await limits.admit(ANN)
        with pytest.raises(Limited) as found:
            await limits.admit(last)
        return found.value

    mine = asyncio.run(refused(Rate(1, 4.0), Rate(9, 1.0), ANN))
    others = asyncio.run(refused(Rate(9, 1.0), Rate(1, 4.0), BOB))
    assert (mine.detail, mine.facts) == (others.detail, others.facts)
    assert mine.facts == {"retry_after": 0.25}
    assert "acme" not in mine.detail


def test_a_plain_text_is_no_rate_key() -> None:
    with pytest.raises(TypeError):
        asyncio.run(TokenBuckets().take([("acme", Rate(1, 1.0))], 0.0))  # type: ignore[list-item]


def test_full_buckets_are_forgotten() -> None:
    async def many() -> int:
        buckets = TokenBuckets()
        for number in range(30_000):
            await buckets.take([(Key(str(number)), Rate(1, 1.0))], float(number))
        return len(buckets._left)

    assert asyncio.run(many()) <= 10_001


def test_the_service_refuses_with_the_seconds_to_wait(deploy: Deploy) -> None:
    agent = deploy(user_burst=3, user_refill=0.001)
    answers = [agent.post("list_sessions", ("acme", "ann")) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].json()["code"] == "limited"
    assert answers[-1].json()["retry_after"] > 1
    assert agent.post("list_sessions", ("acme", "bob")).status_code == 200


def test_who_is_not_admitted_spends_nobodys_tokens(deploy: Deploy) -> None:
    agent = deploy(user_burst=2, user_refill=0.001)
    stranger = agent.token("zeta", "eve")
    for _ in range(5):
        assert agent.post("list_sessions", ("acme", "ann"), stranger).status_code == 403
        assert agent.post("list_sessions", ("acme", "ann"), "nonsense").status_code == 401
    assert agent.post("list_sessions", ("acme", "ann")).status_code == 200


def test_operators_are_not_limited(deploy: Deploy) -> None:
    agent: Deployment = deploy(user_burst=1, user_refill=0.001, tenant_burst=1, tenant_refill=0.001)
    for _ in range(5):
        agent.view("metrics")
