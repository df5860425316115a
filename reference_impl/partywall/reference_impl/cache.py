"""The cache: answers by scope key, dropped when anything they rest on changes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from partywall.canaries import Level, Scope

from .clock import Clock
from .keys import Key, Keys
from .refusals import StoreDown
from .store import PlaceReport, SqliteDatabase
from .store.database import Connection, Table

TABLES = (
    Table("entries", "key TEXT NOT NULL, value TEXT NOT NULL, expires_at DOUBLE PRECISION NOT NULL", ("key",)),
    Table("generations", "mark TEXT NOT NULL, n BIGINT NOT NULL", ("mark",)),
)
TTL = 3600.0
"""Seconds that a value lives at most."""


@dataclass(frozen=True, slots=True)
class Generation:
    """How often the owner's entries had been dropped when a value began to be made, and since when that is counted."""

    tenant: int
    user: int
    epoch: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """An entry to be kept; `marks` are the one-way marks of its tenant and of its user."""

    key: Key
    value: str
    expires: float
    marks: tuple[Key, Key]


@dataclass(frozen=True, slots=True)
class Drop:
    """Every key from `first` up to but not including `after` goes; `mark` is whose generation ends with it."""

    tenant: Key
    mark: Key
    first: str
    after: str


class Entries(Protocol):
    """Where entries lie. Where that is away nothing is found and nothing kept, and only `drop` raises StoreDown."""

    async def get(self, tenant: str, key: Key, now: float) -> str | None: ...

    async def generation(self, tenant: str, marks: tuple[Key, Key]) -> Generation: ...

    async def put(self, tenant: str, line: Line, since: Generation, now: float) -> bool:
        """Keep an entry where the generation is still the one `since`, in one step; whether it was kept."""
        ...

    async def drop(self, tenant: str, wanted: Drop) -> int:
        """How many went. After StoreDown they are owed: none of them is served any more."""
        ...

    async def compact(self) -> None: ...

    async def at_rest(self) -> list[tuple[str, str]]:
        """Key and value of every entry."""
        ...

    def close(self) -> None: ...


class Cache:
    """Text by `Key`, for `ttl` seconds at most.

    A value made from what was there before a drop is not stored after it: `put` compares generations.
    """

    def __init__(self, entries: Entries, keys: Keys, clock: Clock, ttl: float = TTL) -> None:
        self._entries = entries
        self._keys = keys
        self._clock = clock
        self._ttl = ttl

    async def get(self, scope: Scope, key: Key) -> str | None:
        """The live value of `key`, which is one of the scope's."""
        return await self._entries.get(scope.tenant, _made(key), self._clock.now())

    async def generation(self, scope: Scope) -> Generation:
        """To be asked before the first read that a cached value rests on."""
        return await self._entries.generation(scope.tenant, self._marks(scope))

    async def put(self, scope: Scope, key: Key, value: str, since: Generation) -> bool:
        """Keep a value, unless the owner's entries were dropped since; whether it was kept."""
        now = self._clock.now()
        line = Line(_made(key), value, now + self._ttl, self._marks(scope))
        return await self._entries.put(scope.tenant, line, since, now)

    async def drop(self, scope: Scope, level: Level, purpose: str = "") -> int:
        """Drop every entry at or below `level` of the scope, or those of one purpose at its task; how many.

        Raises StoreDown where that could not be confirmed.
        """
        prefix = self._keys.cached(scope, level, purpose)
        mark = self._keys.mark(scope, min(level, Level.USER))
        # A prefix ends with its separator; `}` is the character after `|`: the range is exactly the prefix.
        wanted = Drop(self._keys.mark(scope, Level.TENANT), mark, prefix, prefix[:-1] + "}")
        return await self._entries.drop(scope.tenant, wanted)

    async def outdate(self, scope: Scope, level: Level, purpose: str = "") -> None:
        """As `drop`, for a write that stands whether or not the cache can be reached: then the drop is owed."""
        with suppress(StoreDown):
            await self.drop(scope, level, purpose)

    async def compact(self) -> None:
        """Leave nothing dropped in a log."""
        await self._entries.compact()

    async def at_rest(self) -> PlaceReport:
        """Everything the cache holds."""
        entries = await self._entries.at_rest()
        return PlaceReport([f"{key}\t{value}" for key, value in entries], [key for key, _ in entries])

    def close(self) -> None:
        """Close what it holds open."""
        self._entries.close()

    def _marks(self, scope: Scope) -> tuple[Key, Key]:
        return self._keys.mark(scope, Level.TENANT), self._keys.mark(scope, Level.USER)


class FileEntries:
    """Entries in a file of their own, for the processes that share its folder; empty again after a restart."""

    def __init__(self, path: Path) -> None:
        # Emptied, not removed: another process may have it open, and must see what this one drops.
        self._database = SqliteDatabase(
            path, TABLES, readers=2, durable=False, fulltext=False, opening=("DELETE FROM entries",)
        )

    async def get(self, tenant: str, key: Key, now: float) -> str | None:
        def job(db: Connection) -> str | None:
            row = db.execute("SELECT value FROM entries WHERE key = ? AND expires_at > ?", (key, now)).fetchone()
            return row["value"] if row else None

        return await self._database.read(tenant, job)

    async def generation(self, tenant: str, marks: tuple[Key, Key]) -> Generation:
        return await self._database.read(tenant, lambda db: _generation(db, marks))

    async def put(self, tenant: str, line: Line, since: Generation, now: float) -> bool:
        def job(db: Connection) -> bool:
            if _generation(db, line.marks) != since:
                return False
            again = "ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at"
            db.execute(f"INSERT INTO entries VALUES (?, ?, ?) {again}", (str(line.key), line.value, line.expires))
            return True

        return await self._database.write(tenant, job)

    async def drop(self, tenant: str, wanted: Drop) -> int:
        def job(db: Connection) -> int:
            bump = "INSERT INTO generations VALUES (?, 1) ON CONFLICT (mark) DO UPDATE SET n = generations.n + 1"
            db.execute(bump, (str(wanted.mark),))
            bounds = (wanted.first, wanted.after)
            return db.execute("DELETE FROM entries WHERE key >= ? AND key < ?", bounds).rowcount

        return await self._database.write(tenant, job)

    async def compact(self) -> None:
        await self._database.compact("")

    async def at_rest(self) -> list[tuple[str, str]]:
        def job(db: Connection) -> list[tuple[str, str]]:
            return [(row["key"], row["value"]) for row in db.execute("SELECT key, value FROM entries")]

        return await self._database.everywhere(job)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _made(key: Key) -> Key:
    if not isinstance(key, Key):
        raise TypeError("a cache key comes from Keys, never from plain text")
    return key


def _generation(db: Connection, marks: tuple[Key, Key]) -> Generation:
    def number(mark: Key) -> int:
        row = db.execute("SELECT n FROM generations WHERE mark = ?", (str(mark),)).fetchone()
        return row["n"] if row else 0

    return Generation(number(marks[0]), number(marks[1]))
