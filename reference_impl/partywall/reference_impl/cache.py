"""The cache: answers by scope key, dropped when anything they rest on changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from partywall.canaries import Level, Scope

from .clock import Clock
from .keys import Key, Keys
from .store import PlaceReport, SqliteDatabase
from .store.database import Connection, Table

TABLES = (
    Table("entries", "key TEXT NOT NULL, value TEXT NOT NULL, expires_at DOUBLE PRECISION NOT NULL", ("key",)),
    Table("generations", "mark TEXT NOT NULL, n BIGINT NOT NULL", ("mark",)),
)


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
        # Emptied, not removed: another process may have it open, and must see what this one drops.
        self._database = SqliteDatabase(
            path, TABLES, readers=2, durable=False, fulltext=False, opening=("DELETE FROM entries",)
        )
        self._keys = keys
        self._clock = clock
        self._ttl = ttl

    async def get(self, scope: Scope, key: Key) -> str | None:
        """The live value of `key`, which is one of the scope's."""
        if not isinstance(key, Key):
            raise TypeError("a cache key comes from Keys, never from plain text")
        now = self._clock.now()

        def job(db: Connection) -> str | None:
            row = db.execute("SELECT value FROM entries WHERE key = ? AND expires_at > ?", (key, now)).fetchone()
            return row["value"] if row else None

        return await self._database.read(scope.tenant, job)

    async def generation(self, scope: Scope) -> Generation:
        """To be asked before the first read that a cached value rests on."""
        return await self._database.read(scope.tenant, lambda db: self._generation(db, scope))

    async def put(self, scope: Scope, key: Key, value: str, since: Generation) -> bool:
        """Keep a value, unless the owner's entries were dropped since; whether it was kept."""
        if not isinstance(key, Key):
            raise TypeError("a cache key comes from Keys, never from plain text")
        expires = self._clock.now() + self._ttl

        def job(db: Connection) -> bool:
            if self._generation(db, scope) != since:
                return False
            again = "ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at"
            db.execute(f"INSERT INTO entries VALUES (?, ?, ?) {again}", (str(key), value, expires))
            return True

        return await self._database.write(scope.tenant, job)

    async def drop(self, scope: Scope, level: Level, purpose: str = "") -> int:
        """Drop every entry at or below `level` of the scope, or those of one purpose at its task; how many."""
        prefix = self._keys.cached(scope, level, purpose)
        # A prefix ends with its separator; `}` is the character after `|`: the range is exactly the prefix.
        bounds = (prefix, prefix[:-1] + "}")
        mark = self._keys.mark(scope, min(level, Level.USER))

        def job(db: Connection) -> int:
            bump = "INSERT INTO generations VALUES (?, 1) ON CONFLICT (mark) DO UPDATE SET n = generations.n + 1"
            db.execute(bump, (str(mark),))
            return db.execute("DELETE FROM entries WHERE key >= ? AND key < ?", bounds).rowcount

        return await self._database.write(scope.tenant, job)

    async def compact(self) -> None:
        """Leave nothing dropped in the write-ahead log."""
        await self._database.compact("")

    async def at_rest(self) -> PlaceReport:
        """Everything the cache file holds."""

        def job(db: Connection) -> list[tuple[str, str]]:
            return [(row["key"], row["value"]) for row in db.execute("SELECT key, value FROM entries")]

        entries = await self._database.everywhere(job)
        return PlaceReport([f"{key}\t{value}" for key, value in entries], [key for key, _ in entries])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _generation(self, db: Connection, scope: Scope) -> Generation:
        def number(level: Level) -> int:
            mark = str(self._keys.mark(scope, level))
            row = db.execute("SELECT n FROM generations WHERE mark = ?", (mark,)).fetchone()
            return row["n"] if row else 0

        return Generation(number(Level.TENANT), number(Level.USER))
