"""One SQLite file: a single writer, several readers, never the event loop's thread."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from partywall.canaries import Level, Scope

from ..keys import Keys
from .contract import PlaceReport

T = TypeVar("T")

OWNER = "tenant = ? AND user = ? AND session = ? AND task = ?"
_COLUMNS = ("tenant", "user", "session", "task")


class Database:
    """Runs functions of a connection: reads side by side, writes one after another, each in a transaction.

    A cancelled call either never ran or ran to its end: no connection is left half-way. `secure_delete` makes
    SQLite overwrite what it frees; `durable` makes a commit reach the disk before it is acknowledged.
    """

    def __init__(self, path: Path, schema: str, readers: int = 4, durable: bool = True) -> None:
        self._path = path
        self._durable = durable
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="partywall-write")
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="partywall-read")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer.submit(lambda: self._connection().executescript(schema)).result()

    async def read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run `job` in one snapshot of the committed state."""
        return await self._run(self._readers, job, "BEGIN")

    async def write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run `job` in one write transaction; what it raises rolls everything back."""
        return await self._run(self._writer, job, "BEGIN IMMEDIATE")

    async def compact(self) -> None:
        """Empty the write-ahead log into the file, so that erased text lies in neither."""

        def checkpoint() -> None:
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        await asyncio.get_running_loop().run_in_executor(self._writer, checkpoint)

    def close(self) -> None:
        """Wait for what runs, then close every connection."""
        self._readers.shutdown(wait=True)
        self._writer.shutdown(wait=True)
        for connection in self._open:
            connection.close()

    async def _run(self, pool: ThreadPoolExecutor, job: Callable[[sqlite3.Connection], T], begin: str) -> T:
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


def below(keys: Keys, scope: Scope, level: Level) -> tuple[str, tuple[str, ...]]:
    """The condition, and its values, for rows at or below `level` of the scope."""
    values = keys.row(scope, level)[:level]
    return " AND ".join(f"{column} = ?" for column in _COLUMNS[:level]), values


def report(rows: list[sqlite3.Row], keys: Keys, table: str) -> PlaceReport:
    """Rows that hold the four scope columns, as a place report."""
    contents = ["\t".join(str(value) for value in row) for row in rows]
    found = {
        keys.prefix(Scope(*(row[column] for column in _COLUMNS)), Level.TASK) + table
        for row in rows
        if row["tenant"] and row["user"]
    }
    return PlaceReport(contents, sorted(found))
