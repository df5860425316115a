"""Shared tables in one SQLite file: a single writer, several readers, never the event loop's thread."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from .batch import Batch
from .database import Connection, Table
from .sqlite_file import Fts5, connect, prepare, transaction

T = TypeVar("T")


class SqliteDatabase:
    """One file for all tenants: every statement of the tables filters by the scope's columns.

    `secure_delete` makes SQLite overwrite what it frees; `durable` makes a commit reach the disk before it is
    acknowledged; `opening` are statements to be run at once.
    """

    def __init__(
        self,
        path: Path,
        tables: Sequence[Table],
        readers: int = 4,
        durable: bool = True,
        fulltext: bool = True,
        opening: Sequence[str] = (),
    ) -> None:
        self.fulltext = Fts5()
        self._path = path
        self._durable = durable
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="partywall-write")
        self._batch = Batch(self._writer, self._connection)
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="partywall-read")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._writer.submit(lambda: prepare(self._connection(), tables, path.name, fulltext, opening)).result()
        except BaseException:
            self.close()
            raise

    async def read(self, tenant: str, job: Callable[[Connection], T]) -> T:
        return await self._reading(job)

    async def write(self, tenant: str, job: Callable[[Connection], T]) -> T:
        return await self._batch.run(job)

    async def everywhere(self, job: Callable[[Connection], list[T]]) -> list[T]:
        return await self._reading(job)

    async def control(self, job: Callable[[Connection], T]) -> T:
        return await self._batch.run(job)

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

    async def _reading(self, job: Callable[[Connection], T]) -> T:
        def run() -> T:
            return transaction(self._connection(), job, "BEGIN")

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self._path, self._durable)
            self._local.connection = connection
            with self._guard:
                self._open.append(connection)
        return connection
