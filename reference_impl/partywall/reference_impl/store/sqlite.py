"""Shared tables in one SQLite file: a single writer, several readers, never the event loop's thread."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from .database import Connection, Table

T = TypeVar("T")

_INDEX = "CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5(owner, memory_id UNINDEXED, text)"


class Fts5:
    """Full text by SQLite's FTS5; every entry carries its owner's term."""

    def add(self, db: Connection, row: Sequence[str], owner: str, memory_id: str, text: str) -> None:
        db.execute("INSERT INTO memory_index (owner, memory_id, text) VALUES (?, ?, ?)", (owner, memory_id, text))

    def remove(self, db: Connection, owner: str, memory_id: str) -> None:
        entry = "memory_index MATCH ? AND memory_id = ?"
        db.execute(f"DELETE FROM memory_index WHERE {entry}", (f'owner : "{owner}"', memory_id))

    def matching(self, owner: str, terms: Sequence[str]) -> tuple[str, tuple[object, ...]]:
        words = " OR ".join(f'"{term}"' for term in terms)
        query = f'owner : "{owner}" AND text : ({words})'
        return "memory_id IN (SELECT memory_id FROM memory_index WHERE memory_index MATCH ?)", (query,)

    def sweep(self, db: Connection) -> int:
        removed = db.execute(
            "DELETE FROM memory_index WHERE memory_id NOT IN (SELECT memory_id FROM memories)"
        ).rowcount
        # Merged at once: a deleted term would stay in a segment.
        db.execute("INSERT INTO memory_index (memory_index) VALUES ('optimize')")
        return removed

    def at_rest(self, db: Connection) -> list[tuple[str, str]]:
        return [(row["owner"], row["text"]) for row in db.execute("SELECT owner, text FROM memory_index")]


class SqliteDatabase:
    """One file for all tenants: every statement of the tables filters by the scope's columns.

    `secure_delete` makes SQLite overwrite what it frees; `durable` makes a commit reach the disk before it is
    acknowledged.
    """

    def __init__(
        self, path: Path, tables: Sequence[Table], readers: int = 4, durable: bool = True, fulltext: bool = True
    ) -> None:
        self.fulltext = Fts5()
        self._path = path
        self._durable = durable
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="partywall-write")
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="partywall-read")
        path.parent.mkdir(parents=True, exist_ok=True)
        schema = [statement for table in tables for statement in _created(table)] + [_INDEX] * fulltext
        self._writer.submit(lambda: self._connection().executescript(";\n".join(schema))).result()

    async def read(self, tenant: str, job: Callable[[Connection], T]) -> T:
        return await self._run(self._readers, job, "BEGIN")

    async def write(self, tenant: str, job: Callable[[Connection], T]) -> T:
        return await self._run(self._writer, job, "BEGIN IMMEDIATE")

    async def everywhere(self, job: Callable[[Connection], list[T]]) -> list[T]:
        return await self._run(self._readers, job, "BEGIN")

    async def control(self, job: Callable[[Connection], T]) -> T:
        return await self._run(self._writer, job, "BEGIN IMMEDIATE")

    async def drop(self, tenant: str) -> int | None:
        return None

    async def compact(self, tenant: str) -> None:
        def checkpoint() -> None:
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        await asyncio.get_running_loop().run_in_executor(self._writer, checkpoint)

    def close(self) -> None:
        """Wait for what runs, then close every connection."""
        self._readers.shutdown(wait=True)
        self._writer.shutdown(wait=True)
        for connection in self._open:
            connection.close()

    async def _run(self, pool: ThreadPoolExecutor, job: Callable[[Connection], T], begin: str) -> T:
        def transaction() -> T:
            connection = self._connection()
            connection.execute(begin)
            try:
                result = job(connection)
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return result

        return await asyncio.get_running_loop().run_in_executor(pool, transaction)

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=10.0)
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            connection.execute("PRAGMA secure_delete = ON")
            self._local.connection = connection
            with self._guard:
                self._open.append(connection)
        return connection


def _created(table: Table) -> list[str]:
    columns = ", ".join((table.columns, f"PRIMARY KEY ({_listed(table.key)})"))
    indexes = [
        f"CREATE INDEX IF NOT EXISTS {table.name}_{number} ON {table.name} ({_listed(index)})"
        for number, index in enumerate(table.indexes, 1)
    ]
    return [f"CREATE TABLE IF NOT EXISTS {table.name} ({columns}) WITHOUT ROWID", *indexes]


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
