"""Writes that share a commit: each has its own fate, and nobody is told before the disk has it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from partywall.reference_impl.store import batch
from partywall.reference_impl.store.database import Connection, Table
from partywall.reference_impl.store.sqlite import SqliteDatabase
from partywall.reference_impl.store.sqlite_file import transaction

NUMBERS = Table("numbers", "tenant TEXT NOT NULL, n BIGINT NOT NULL", ("tenant", "n"))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    made = SqliteDatabase(tmp_path / "main.db", [NUMBERS])
    yield made
    made.close()


async def _add(database: SqliteDatabase, n: int, fails: bool = False) -> int:
    def job(db: Connection) -> int:
        db.execute("INSERT INTO numbers VALUES ('acme', ?)", (n,))
        if fails:
            raise ValueError(f"{n} is refused")
        return n

    return await database.write("acme", job)


def _stored(path: Path) -> list[int]:
    with sqlite3.connect(path / "main.db") as db:
        return [n for (n,) in db.execute("SELECT n FROM numbers ORDER BY n")]


def test_a_job_that_fails_undoes_itself_and_nobody_else(database: SqliteDatabase, tmp_path: Path) -> None:
    async def all_at_once() -> list[int | BaseException]:
        calls = (_add(database, n, fails=n % 3 == 0) for n in range(30))
        return await asyncio.gather(*calls, return_exceptions=True)

    ended = asyncio.run(all_at_once())
    assert [isinstance(end, ValueError) for end in ended] == [n % 3 == 0 for n in range(30)]
    assert _stored(tmp_path) == [n for n in range(30) if n % 3]


def test_many_writes_share_few_commits(database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def counted(*given: Any) -> Any:
        begun.append("one")
        return transaction(*given)

    monkeypatch.setattr(batch, "transaction", counted)

    async def all_at_once() -> None:
        await asyncio.gather(*(_add(database, n) for n in range(60)))

    asyncio.run(all_at_once())
    assert 1 <= len(begun) < 60


def test_what_was_acknowledged_can_be_read_by_another_connection(database: SqliteDatabase, tmp_path: Path) -> None:
    async def one_after_another() -> None:
        for n in range(20):
            assert await _add(database, n) == n
            assert n in _stored(tmp_path)

    asyncio.run(one_after_another())


def test_a_commit_that_fails_is_told_to_everybody_in_it(
    database: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object) -> None:
        raise sqlite3.OperationalError("disk full")

    monkeypatch.setattr(batch, "transaction", fails)

    async def all_at_once() -> list[int | BaseException]:
        return await asyncio.gather(*(_add(database, n) for n in range(8)), return_exceptions=True)

    assert all(isinstance(end, sqlite3.OperationalError) for end in asyncio.run(all_at_once()))
    assert _stored(tmp_path) == []


def test_a_job_sees_what_came_before_it_in_the_same_commit(database: SqliteDatabase) -> None:
    async def all_at_once() -> list[int]:
        def count(db: Connection) -> int:
            row = db.execute("SELECT COUNT(*) AS found FROM numbers").fetchone()
            assert row is not None
            db.execute("INSERT INTO numbers VALUES ('acme', ?)", (row["found"],))
            return int(row["found"])

        return await asyncio.gather(*(database.write("acme", count) for _ in range(40)))

    assert asyncio.run(all_at_once()) == list(range(40))
