"""Leases between processes: one that may have been left behind is given back by the process that left it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from partywall.canaries import Scope
from partywall.reference_impl.keys import Key, Keys
from partywall.reference_impl.locks import SessionLocks
from partywall.reference_impl.refusals import Limited, StoreDown

KEY = Keys().lock(Scope("acme", "ann", "s1"))


class Lossy:
    """Leases that never end; while `lost` names a method, what it does is done and its answer is lost."""

    lease = 60.0

    def __init__(self) -> None:
        self.owners: dict[Key, str] = {}
        self.lost = ""
        self.hangs = False

    async def take(self, key: Key, owner: str, above: int) -> int | None:
        if self.owners.setdefault(key, owner) != owner:
            return None
        await self._answer("take")
        return above + 1

    async def extend(self, key: Key, owner: str) -> bool:
        return self.owners.get(key) == owner

    async def release(self, key: Key, owner: str) -> bool:
        if self.lost == "before release":
            raise StoreDown
        mine = self.owners.get(key) == owner
        if mine:
            del self.owners[key]
        await self._answer("release")
        return mine

    async def _answer(self, name: str) -> None:
        if self.hangs:
            await asyncio.sleep(60)
        if self.lost == name:
            raise StoreDown


async def _held(locks: SessionLocks) -> str:
    async with locks.hold(KEY) as lease:
        return lease.owner


@pytest.mark.parametrize("lost", ["take", "release", "before release"])
def test_a_lease_whose_answer_was_lost_keeps_nobody_of_the_same_process_waiting(lost: str) -> None:
    store = Lossy()
    locks = SessionLocks(0.05, store)

    async def main() -> None:
        store.lost = lost
        for _ in range(2):
            with suppress(StoreDown):
                await _held(locks)
        store.lost = ""
        assert await _held(locks)
        assert store.owners == {}

    asyncio.run(main())


def test_a_lease_taken_for_a_caller_that_hung_up_is_given_back() -> None:
    store = Lossy()
    locks = SessionLocks(5.0, store)

    async def main() -> None:
        store.hangs = True
        taking = asyncio.create_task(_held(locks))
        await asyncio.sleep(0.01)
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
        store.hangs = False
        assert await asyncio.wait_for(_held(locks), 1.0)

    asyncio.run(main())


def test_another_processs_lease_is_left_alone() -> None:
    store = Lossy()
    one, other = SessionLocks(0.05, store), SessionLocks(0.05, store)

    async def main() -> None:
        async with one.hold(KEY) as lease:
            with pytest.raises(Limited):
                await _held(other)
            assert store.owners[KEY] == lease.owner

    asyncio.run(main())
