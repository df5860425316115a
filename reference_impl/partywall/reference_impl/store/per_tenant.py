"""A database file per tenant: what belongs to one is read, written and removed without touching another's."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..keys import path_segment
from .database import Connection, Table
from .sqlite import SqliteDatabase
from .sqlite_file import Fts5, connect, prepare, transaction

T = TypeVar("T")


class PerTenantFiles:
    """One file per tenant below `folder`, and `control.db` for what belongs to the deployment.

    A file is made by the tenant's first write; reading where there is none finds nothing and makes none. Threads and
    open files do not grow with the number of tenants: `threads` serve them all, and of the connections that nobody
    uses at the moment the `kept` used last stay open.
    """

    def __init__(
        self, folder: Path, tables: Sequence[Table], control: Sequence[Table], threads: int = 6, kept: int = 64
    ) -> None:
        self.fulltext = Fts5()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder / "tenants"
        self._folder.mkdir(exist_ok=True, mode=0o700)
        self._files = _Files(self._folder, tables, kept)
        self._control = SqliteDatabase(folder / "control.db", control, readers=1, fulltext=False)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="partywall-tenants")
        self._writing: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    async def read(self, tenant: str, job: Callable[[Connection], T]) -> T:
        return await self._run(lambda: self._files.read(self._path(tenant), job))

    async def write(self, tenant: str, job: Callable[[Connection], T]) -> T:
        # Waiting for the tenant's turn happens here, not in a thread: one busy tenant takes one thread of them.
        turn = self._writing.setdefault(tenant, asyncio.Lock())
        async with turn:
            return await self._run(lambda: self._files.write(self._path(tenant), job))

    async def everywhere(self, job: Callable[[Connection], list[T]]) -> list[T]:
        def walk() -> list[T]:
            return [each for path in sorted(self._folder.glob("*.db")) for each in self._files.read(path, job)]

        return await self._run(walk)

    async def control(self, job: Callable[[Connection], T]) -> T:
        return await self._control.control(job)

    async def drop(self, tenant: str) -> int | None:
        return await self._run(lambda: self._files.drop(self._path(tenant)))

    async def compact(self, tenant: str) -> None:
        await self._run(lambda: self._files.checkpoint(self._path(tenant)))
        await self._control.compact(tenant)

    def close(self) -> None:
        """Wait for what runs, then close every connection."""
        self._threads.shutdown(wait=True)
        self._files.close()
        self._control.close()

    async def _run(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, job)

    def _path(self, tenant: str) -> Path:
        # Known by its encoded name alone: no id climbs out of the folder, and no two ids share a file.
        return self._folder / f"t{path_segment(tenant)}.db"  # partywall: allow hand-built-path — one file a tenant


class _Gone(Exception):
    """The file that a connection had open is no longer the one that stands there."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A connection and the inode of the file it has open, which no other file gets as long as it is open."""

    connection: sqlite3.Connection
    inode: int

    def stands(self, path: Path) -> bool:
        with suppress(FileNotFoundError):
            return path.stat().st_ino == self.inode
        return False

    def close(self) -> None:
        self.connection.close()


class _Files:
    """The connections to all files, each used by one thread at a time.

    Two processes may use one folder. A file is opened under a shared lock of the folder, and made and removed under an
    exclusive one, so that nobody opens half of what is being removed. A writer that waited for its transaction
    looks again whether the file still stands: what it wrote into a removed one would be lost without a word.
    """

    def __init__(self, folder: Path, tables: Sequence[Table], kept: int) -> None:
        self._folder = folder
        self._tables = tables
        self._kept = kept
        self._guard = threading.Lock()
        self._idle: OrderedDict[Path, list[_Open]] = OrderedDict()
        self._count = 0
        self._nothing = threading.local()

    def read(self, path: Path, job: Callable[[Connection], T]) -> T:
        with suppress(_Gone), self._borrowed(path, create=False) as opened:
            return transaction(opened.connection, job, "BEGIN")
        return transaction(self._empty(), job, "BEGIN")

    def write(self, path: Path, job: Callable[[Connection], T]) -> T:
        while True:
            with suppress(_Gone), self._borrowed(path, create=True) as opened:

                def standing(db: Connection, opened: _Open = opened) -> T:
                    if not opened.stands(path):
                        raise _Gone
                    return job(db)

                return transaction(opened.connection, standing, "BEGIN IMMEDIATE")

    def drop(self, path: Path) -> int:
        """Remove the file and what SQLite keeps beside it; how many rows went with it."""
        with self._folder_lock(fcntl.LOCK_EX):
            self._close_idle(path)
            if not path.exists():
                return 0
            opened = self._ready(path, create=False)
            try:
                # Held while the file goes: who waits for a transaction of its own finds it gone.
                return transaction(opened.connection, lambda db: self._remove(db, path), "BEGIN IMMEDIATE")
            finally:
                opened.close()
                for suffix in ("-wal", "-shm"):
                    if not path.exists():
                        path.with_name(path.name + suffix).unlink(missing_ok=True)

    def checkpoint(self, path: Path) -> None:
        with suppress(_Gone), self._borrowed(path, create=False) as opened:
            opened.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        with self._guard:
            idle = [each for kept in self._idle.values() for each in kept]
            self._idle.clear()
        for each in idle:
            each.close()

    @contextmanager
    def _borrowed(self, path: Path, create: bool) -> Iterator[_Open]:
        opened = self._taken(path) or self._opened(path, create)
        try:
            yield opened
        except (_Gone, sqlite3.Error):
            opened.close()
            raise
        except BaseException:
            self._give_back(path, opened)
            raise
        self._give_back(path, opened)

    def _taken(self, path: Path) -> _Open | None:
        while True:
            with self._guard:
                idle = self._idle.get(path)
                if not idle:
                    return None
                opened = idle.pop()
                self._count -= 1
                if not idle:
                    del self._idle[path]
            if opened.stands(path):
                return opened
            opened.close()

    def _give_back(self, path: Path, opened: _Open) -> None:
        """Keep a connection for the next who wants it; close, in this thread, what was used longest ago."""
        closing = []
        with self._guard:
            self._idle.setdefault(path, []).append(opened)
            self._idle.move_to_end(path)
            self._count += 1
            while self._count > self._kept:
                oldest, idle = next(iter(self._idle.items()))
                closing.append(idle.pop(0))
                self._count -= 1
                if not idle:
                    del self._idle[oldest]
        for each in closing:
            each.close()

    def _close_idle(self, path: Path) -> None:
        with self._guard:
            idle = self._idle.pop(path, [])
            self._count -= len(idle)
        for each in idle:
            each.close()

    def _opened(self, path: Path, create: bool) -> _Open:
        with self._folder_lock(fcntl.LOCK_SH):
            if path.exists():
                return self._ready(path, create=False)
        if not create:
            raise _Gone
        with self._folder_lock(fcntl.LOCK_EX):
            return self._ready(path, create=True)

    def _ready(self, path: Path, create: bool) -> _Open:
        connection = connect(path, create=create)
        try:
            prepare(connection, self._tables, path.name)
            return _Open(connection, path.stat().st_ino)
        except BaseException:
            connection.close()
            raise

    def _remove(self, db: Connection, path: Path) -> int:
        counts = [db.execute(f"SELECT COUNT(*) AS n FROM {table.name}").fetchone() for table in self._tables]
        path.unlink()
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return sum(row["n"] for row in counts if row is not None)

    def _empty(self) -> sqlite3.Connection:
        """What a tenant without a file reads from, one for each thread."""
        connection: sqlite3.Connection | None = getattr(self._nothing, "connection", None)
        if connection is None:
            connection = connect(None)
            prepare(connection, self._tables, "nothing")
            self._nothing.connection = connection
        return connection

    @contextmanager
    def _folder_lock(self, kind: int) -> Iterator[None]:
        descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, kind)
            yield
        finally:
            os.close(descriptor)
