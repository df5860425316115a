"""The cache: answers by scope key, dropped when anything they rest on changes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from partywall.canaries import Level, Scope

from .clock import Clock
from .keys import Key, Keys
from .store import Database, PlaceReport

SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires_at REAL NOT NULL)
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS generations (mark TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
DELETE FROM entries;
"""


@dataclass(frozen=True, slots=True)
class Generation:
    """How often the owner's entries had been dropped when a value began to be made."""

    tenant: int
    user: int


class Cache:
    """Text by `Key`, for `ttl` seconds at most; empty again after a restart.

    A value made from what was there before a drop is not stored after it: `put` compares generations.
    """

    def __init__(self, path: Path, keys: Keys, clock: Clock, ttl: float = 3600.0) -> None:
        self._database = Database(path, SCHEMA, readers=2, durable=False)
        self._keys = keys
        self._clock = clock
        self._ttl = ttl

    async def get(self, key: Key) -> str | None:
        """The live value of `key`."""
        if not isinstance(key, Key):
            raise TypeError("a cache key comes from Keys, never from plain text")
        now = self._clock.now()

        def job(db: sqlite3.Connection) -> str | None:
            row = db.execute("SELECT value FROM entries WHERE key = ? AND expires_at > ?", (key, now)).fetchone()
            return row["value"] if row else None

        return await self._database.read(job)

    async def generation(self, scope: Scope) -> Generation:
        """To be asked before the first read that a cached value rests on."""
        return await self._database.read(lambda db: self._generation(db, scope))

    async def put(self, scope: Scope, key: Key, value: str, since: Generation) -> bool:
        """Keep a value, unless the owner's entries were dropped since; whether it was kept."""
        if not isinstance(key, Key):
            raise TypeError("a cache key comes from Keys, never from plain text")
        expires = self._clock.now() + self._ttl

        def job(db: sqlite3.Connection) -> bool:
            if self._generation(db, scope) != since:
                return False
            db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", (str(key), value, expires))
            return True

        return await self._database.write(job)

    async def drop(self, scope: Scope, level: Level) -> int:
        """Drop every entry at or below `level` of the scope; how many."""
        prefix = self._keys.prefix(scope, level)
        # A prefix ends with its separator; `}` is the character after `|`: the range is exactly the prefix.
        bounds = (prefix, prefix[:-1] + "}")
        mark = self._keys.mark(scope, min(level, Level.USER))

        def job(db: sqlite3.Connection) -> int:
            bump = "INSERT INTO generations VALUES (?, 1) ON CONFLICT DO UPDATE SET n = n + 1"
            db.execute(bump, (str(mark),))
            return db.execute("DELETE FROM entries WHERE key >= ? AND key < ?", bounds).rowcount

        return await self._database.write(job)

    async def compact(self) -> None:
        """Leave nothing dropped in the write-ahead log."""
        await self._database.compact()

    async def at_rest(self) -> PlaceReport:
        """Everything the cache file holds."""

        def job(db: sqlite3.Connection) -> PlaceReport:
            rows = db.execute("SELECT key, value FROM entries").fetchall()
            return PlaceReport(["\t".join(row) for row in rows], [row["key"] for row in rows])

        return await self._database.read(job)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _generation(self, db: sqlite3.Connection, scope: Scope) -> Generation:
        def number(level: Level) -> int:
            mark = str(self._keys.mark(scope, level))
            row = db.execute("SELECT n FROM generations WHERE mark = ?", (mark,)).fetchone()
            return row["n"] if row else 0

        return Generation(number(Level.TENANT), number(Level.USER))
