"""Sixteen writers at once: compare-and-set holds on every store, with its lock and without it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from partywall.reference_impl.append import Appended, Draft
from partywall.reference_impl.facts import Assertion
from partywall.reference_impl.keys import Key
from partywall.reference_impl.layers import Layer
from partywall.reference_impl.locks import Lease, SessionLocks
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.refusals import ConcurrencyError, Conflict, Overtaken

from .layouts import ANN, Stored, settings_of, shares

WRITERS = 16


class NoLocks(SessionLocks):
    """Lets everybody in at once."""

    @asynccontextmanager
    async def hold(self, key: Key) -> AsyncIterator[Lease]:
        yield Lease("nobody", 0)


async def _all(stored: Stored, drafts: list[Draft], seen: int | None) -> list[Appended | BaseException]:
    calls = [stored.system.sessions.append(ANN, draft, seen) for draft in drafts]
    return await asyncio.gather(*calls, return_exceptions=True)


def test_of_sixteen_commits_from_one_version_one_wins(rows: Stored) -> None:
    rows.append(ANN, "first")
    found = rows.run(_all(rows, [Draft(f"writer {n}") for n in range(WRITERS)], 1))
    won = [each for each in found if isinstance(each, Appended)]
    assert [each.turn for each in won] == [2]
    assert sum(isinstance(each, ConcurrencyError) for each in found) == WRITERS - 1
    assert rows.texts(ANN) == ["first", won[0].text]


def test_of_sixteen_who_make_a_session_one_wins(rows: Stored) -> None:
    found = rows.run(_all(rows, [Draft(f"writer {n}") for n in range(WRITERS)], None))
    assert sum(isinstance(each, Appended) for each in found) == 1
    assert all(isinstance(each, (Appended, Conflict)) for each in found)
    assert len(rows.texts(ANN)) == 1


def test_sixteen_deliveries_of_one_request_are_one_turn(rows: Stored) -> None:
    rows.append(ANN, "first")
    draft = Draft("again", request_id="r1")
    found = rows.run(_all(rows, [draft] * WRITERS, 1))
    won = [each for each in found if isinstance(each, Appended)]
    assert {each.turn for each in won} == {2}
    assert sum(not each.repeated for each in won) == 1
    assert rows.texts(ANN) == ["first", "again"]


@pytest.mark.parametrize("locks", [SessionLocks, NoLocks])
def test_no_turn_is_lost_or_numbered_twice(layout: str, tmp_path: Path, locks: type[SessionLocks]) -> None:
    with shares(layout) as schema:
        stored = Stored(settings_of(layout, tmp_path, schema), replace(Parts(), locks=locks))

        async def write(writer: int) -> list[int]:
            acked = []
            for n in range(3):
                try:
                    appended = await stored.system.agent.append(ANN, Draft(f"{writer}.{n}"))
                    acked.append(appended.turn)
                except Conflict:
                    pass
            return acked

        async def everybody() -> list[list[int]]:
            return await asyncio.gather(*(write(writer) for writer in range(WRITERS)))

        acked = [turn for turns in stored.run(everybody()) for turn in turns]
        turns = stored.run(stored.system.sessions.turns(ANN))
        stored.close()
    assert sorted(acked) == [turn.turn for turn in turns] == list(range(1, len(turns) + 1))
    if locks is SessionLocks:
        assert len(turns) == 3 * WRITERS


def test_facts_asserted_at_once_form_one_chain(rows: Stored) -> None:
    async def everybody() -> list[bool | BaseException]:
        claims = [Assertion("n", str(n), Layer.TASK, 100.0 + n, None) for n in range(WRITERS)]
        calls = [rows.system.facts.put(ANN, claim) for claim in claims]
        return await asyncio.gather(*calls, return_exceptions=True)

    found = rows.run(everybody())
    assert all(isinstance(each, (bool, Conflict)) for each in found)
    chain = rows.run(rows.system.facts.chain(ANN, Layer.TASK, "n"))
    assert [fact.version for fact in chain] == list(range(1, len(chain) + 1))
    assert len(chain) == sum(isinstance(each, bool) for each in found)
    assert [fact.valid_to is None for fact in chain] == [False] * (len(chain) - 1) + [True]


def test_memories_added_at_once_all_have_their_own_id(rows: Stored) -> None:
    async def everybody() -> list[str]:
        return await asyncio.gather(*(rows.system.memories.add(ANN, f"memory {n}") for n in range(WRITERS)))

    assert len(set(rows.run(everybody()))) == WRITERS
    assert len(rows.run(rows.system.memories.all(ANN))) == WRITERS


def test_a_tenant_dropped_while_others_write_loses_nothing_of_theirs(rows: Stored) -> None:
    others = [replace(ANN, tenant=f"other{n}") for n in range(4)]

    async def write(tenant: int) -> None:
        for n in range(5):
            await rows.system.sessions.append(others[tenant], Draft(str(n)), n or None)

    async def drop() -> None:
        for _ in range(3):
            await rows.system.database.drop("acme")
            await rows.system.sessions.create(ANN)

    async def everybody() -> None:
        await asyncio.gather(drop(), *(write(tenant) for tenant in range(4)))

    rows.run(everybody())
    assert all(rows.texts(other) == list("01234") for other in others)


def test_who_lost_the_lock_meanwhile_is_told_and_writes_nothing(rows: Stored) -> None:
    rows.append(ANN, "first", fence=7)
    rows.append(ANN, "of the next holder", 1, fence=9)
    with pytest.raises(Overtaken) as refused:
        rows.append(ANN, "of the one that paused", 2, fence=8)
    assert (refused.value.token, refused.value.status) == (9, 409)
    assert rows.append(ANN, "of nobody's lease", 2).turn == 3
    with pytest.raises(Overtaken):
        rows.append(ANN, "of the one that paused", 3, fence=8)
    assert rows.append(ANN, "of the holder", 3, fence=9).turn == 4
    assert rows.append(replace(ANN, session="s2"), "elsewhere", fence=1).turn == 1


def test_a_lock_taken_anew_goes_on_above_what_has_written(stored: Stored) -> None:
    ahead = 2 * time.time_ns() // 1000
    stored.append(ANN, "by one whose clock is ahead", fence=ahead)
    assert stored.run(stored.system.agent.append(ANN, Draft("next"))).turn == 2
    assert stored.run(stored.system.agent.append(ANN, Draft("claimed", expected_version=2))).turn == 3
