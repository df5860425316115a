"""What processes share through Redis: leases, cache entries, rates; and what holds while Redis is away."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis
from partywall.canaries import Level, Scope
from partywall.reference_impl.cache import Cache
from partywall.reference_impl.clock import Clock
from partywall.reference_impl.keys import Keys
from partywall.reference_impl.locks import SessionLocks
from partywall.reference_impl.rates import Rate, RateLimits
from partywall.reference_impl.refusals import Limited, StoreDown
from partywall.reference_impl.shared import Shared, SharedBuckets, SharedEntries, SharedLock

from .layouts import ANN, REDIS, ZOE, Stored, relay, settings_of, shares, url_of

pytestmark = pytest.mark.services

KEYS = Keys()
BOB = replace(ANN, user="bob")


@pytest.fixture
def name() -> Iterator[str]:
    """A deployment's name on the server, emptied afterwards."""
    url_of(REDIS)
    with shares("+redis") as schema:
        yield schema


def _left(name: str) -> list[str]:
    with redis.Redis.from_url(url_of(REDIS), decode_responses=True) as client:
        return sorted(str(each) for each in client.scan_iter(match=f"{{{name}}}:*"))


def test_a_lease_is_one_owners_until_it_ends_or_is_given_back(name: str) -> None:
    async def leases() -> None:
        shared = Shared(url_of(REDIS), name)
        lock, short = SharedLock(shared, 30.0), SharedLock(shared, 0.05)
        key, other = KEYS.lock(ANN), KEYS.lock(ZOE)
        first = await lock.take(key, "one")
        assert first is not None
        assert await lock.take(key, "two") is None
        assert not await lock.release(key, "two")
        assert not await lock.extend(key, "two")
        assert await lock.extend(key, "one")
        assert await lock.take(other, "two") is not None
        assert await lock.release(key, "one")
        second = await short.take(key, "two")
        assert second is not None
        assert second > first
        await asyncio.sleep(0.1)
        third = await lock.take(key, "three")
        assert third is not None
        assert third > second
        assert not await short.extend(key, "two")
        assert not await short.release(key, "two")
        await shared.aclose()

    asyncio.run(leases())


def test_a_lost_counter_goes_on_above_what_it_gave(name: str) -> None:
    async def tokens() -> None:
        shared = Shared(url_of(REDIS), name)
        lock = SharedLock(shared, 30.0)
        before = await lock.take(KEYS.lock(ANN), "one")
        with redis.Redis.from_url(url_of(REDIS)) as client:
            for each in _left(name):
                client.delete(each)
        after = await lock.take(KEYS.lock(ANN), "two")
        assert before is not None
        assert after is not None
        assert after > before
        await shared.aclose()

    asyncio.run(tokens())


def test_locks_of_two_processes_keep_each_other_out(name: str) -> None:
    async def two_processes() -> None:
        shared = Shared(url_of(REDIS), name)
        one, two = (SessionLocks(timeout, SharedLock(shared, 5.0)) for timeout in (5.0, 0.05))
        key, inside = KEYS.lock(ANN), 0
        async with one.hold(key) as lease:
            assert one.owner(key) == lease
            with pytest.raises(Limited):
                await two.hold(key).__aenter__()

        async def enter(locks: SessionLocks) -> None:
            nonlocal inside
            async with locks.hold(key):
                inside += 1
                assert inside == 1
                await asyncio.sleep(0.001)
                inside -= 1

        patient = SessionLocks(5.0, SharedLock(shared, 5.0))
        await asyncio.gather(*(enter(locks) for locks in (one, patient) for _ in range(8)))
        await shared.aclose()

    asyncio.run(two_processes())


def test_a_lease_is_extended_as_long_as_it_is_held(name: str) -> None:
    async def held_for_long() -> None:
        shared = Shared(url_of(REDIS), name)
        one, two = (SessionLocks(timeout, SharedLock(shared, 0.3)) for timeout in (5.0, 0.05))
        async with one.hold(KEYS.lock(ANN)):
            await asyncio.sleep(0.6)
            with pytest.raises(Limited):
                await two.hold(KEYS.lock(ANN)).__aenter__()
        await shared.aclose()

    asyncio.run(held_for_long())


def test_a_cached_value_is_seen_by_every_process_until_its_owner_changes(name: str) -> None:
    async def two_processes() -> None:
        shared = Shared(url_of(REDIS), name)
        clock = Clock()
        one, two = (Cache(SharedEntries(shared, 60.0), KEYS, clock, 60.0) for _ in range(2))
        await two.get(ANN, KEYS.cache(ANN, "p", 0))
        mine, bobs, zoes = (KEYS.cache(scope, "p", 1) for scope in (ANN, BOB, ZOE))
        for scope, key in ((ANN, mine), (BOB, bobs), (ZOE, zoes)):
            assert await one.put(scope, key, "odd \0 text", await one.generation(scope))
        assert await two.get(ANN, mine) == "odd \0 text"
        assert len((await two.at_rest()).contents) == 3
        since = await two.generation(ANN)
        assert await one.drop(ANN, Level.USER) == 1
        assert await two.get(ANN, mine) is None
        assert not await two.put(ANN, mine, "made of what was before", since)
        assert await two.get(BOB, bobs) == "odd \0 text"
        assert await two.drop(ANN, Level.TENANT) == 1
        assert await two.get(ZOE, zoes) == "odd \0 text"
        clock.advance(61)
        assert await two.get(ZOE, zoes) is None
        await shared.aclose()

    asyncio.run(two_processes())


@pytest.mark.parametrize("other", ["acme0", "acm", "acme|", "ACME"])
def test_a_drop_reaches_no_neighbour_with_a_like_name(name: str, other: str) -> None:
    async def two_tenants() -> None:
        shared = Shared(url_of(REDIS), name)
        cache = Cache(SharedEntries(shared, 60.0), KEYS, Clock(), 60.0)
        theirs = Scope(other, "ann", "s1", "k1")
        for scope in (ANN, theirs):
            assert await cache.put(scope, KEYS.cache(scope, "p", 1), "x", await cache.generation(scope))
        assert await cache.drop(ANN, Level.TENANT) == 1
        assert (await cache.at_rest()).keys == [KEYS.cache(theirs, "p", 1)]
        assert not [each for each in _left(name) if "entry" in each and "tacme|" in each]
        await shared.aclose()

    asyncio.run(two_tenants())


def test_what_was_cached_before_a_start_is_not_served_after_it(name: str) -> None:
    async def two_lives() -> None:
        shared = Shared(url_of(REDIS), name)
        key = KEYS.cache(ANN, "p", 1)
        first = Cache(SharedEntries(shared, 60.0), KEYS, Clock(), 60.0)
        assert await first.put(ANN, key, "x", await first.generation(ANN))
        second = Cache(SharedEntries(shared, 60.0), KEYS, Clock(), 60.0)
        assert await second.get(ANN, key) is None
        assert await first.get(ANN, key) is None
        await shared.aclose()

    asyncio.run(two_lives())


def test_a_drop_that_was_owed_is_made_before_anything_is_served(name: str) -> None:
    with relay(url_of(REDIS)) as (url, switch):

        async def away() -> None:
            shared = Shared(url, name)
            cache = Cache(SharedEntries(shared, 60.0), KEYS, Clock(), 60.0)
            key = KEYS.cache(ANN, "p", 1)
            assert await cache.put(ANN, key, "of before", await cache.generation(ANN))
            switch.clear()
            assert await cache.get(ANN, key) is None
            since = await cache.generation(ANN)
            assert not await cache.put(ANN, key, "while away", since)
            await cache.outdate(ANN, Level.TASK)
            with pytest.raises(StoreDown):
                await cache.drop(ANN, Level.TENANT)
            switch.set()
            assert not await cache.put(ANN, key, "while away", since)
            assert await cache.get(ANN, key) is None
            assert (await cache.at_rest()).contents == []
            await shared.aclose()

        asyncio.run(away())


def test_without_redis_a_write_is_refused_a_read_is_served_and_a_purge_stays_open(tmp_path: Path) -> None:
    with shares("postgres+redis") as schema, relay(url_of(REDIS)) as (url, switch):
        stored = Stored(settings_of("postgres+redis", tmp_path, schema, redis_url=url))

        async def append() -> int:
            from partywall.reference_impl.append import Draft

            return (await stored.system.agent.append(ANN, Draft("x"))).turn

        assert stored.run(append()) == 1
        switch.clear()
        with pytest.raises(StoreDown):
            stored.run(append())
        assert stored.texts(ANN) == ["x"]
        stored.run(stored.system.rates.admit(ANN))
        with pytest.raises(StoreDown):
            stored.run(stored.system.purge.run(ANN, Level.TENANT))
        switch.set()
        assert stored.run(stored.system.purge.resume()) == 1
        assert stored.run(append()) == 1
        stored.close()


def test_processes_draw_from_one_bucket_and_a_neighbour_from_its_own(name: str) -> None:
    async def two_processes() -> None:
        shared = Shared(url_of(REDIS), name)
        clock = Clock()
        now = clock.now()
        clock.now = lambda: now  # type: ignore[method-assign]
        limits = [RateLimits(KEYS, clock, SharedBuckets(shared), Rate(4, 1.0), Rate(6, 1.0)) for _ in range(2)]
        for number in range(4):
            await limits[number % 2].admit(ANN)
        for each in limits:
            with pytest.raises(Limited) as refused:
                await each.admit(ANN)
            assert refused.value.facts == {"retry_after": 1.0}
        for _ in range(2):
            await limits[0].admit(BOB)
        with pytest.raises(Limited):
            await limits[1].admit(BOB)
        await limits[0].admit(ZOE)
        now += 1.0
        await limits[0].admit(ANN)
        await shared.aclose()

    asyncio.run(two_processes())


def test_nothing_is_left_of_a_deployment_that_was_discarded(tmp_path: Path) -> None:
    with shares("postgres+redis") as schema:
        stored = Stored(settings_of("postgres+redis", tmp_path, schema))
        stored.run(stored.system.rates.admit(ANN))
        assert _left(schema)
        stored.close()
    assert _left(schema) == []
