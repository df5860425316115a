"""Which artifacts there are, in SQLite; their text lies in the object store."""

from __future__ import annotations

import sqlite3

from partywall.canaries import Level, Scope

from ..clock import Clock
from ..keys import Keys
from .contract import PlaceReport
from .database import OWNER, Database, below, report

SCHEMA = """
CREATE TABLE IF NOT EXISTS artifacts (
  tenant TEXT NOT NULL, user TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL,
  name TEXT NOT NULL, path TEXT NOT NULL, facts_at REAL NOT NULL,
  PRIMARY KEY (tenant, user, session, task, name)) WITHOUT ROWID;
"""


class SqliteArtifacts:
    """The artifact table: every statement is filtered by all four scope columns.

    `facts_at` is the instant whose facts the artifact was made from, so that it can be replayed.
    """

    def __init__(self, database: Database, keys: Keys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    async def put(self, scope: Scope, name: str, path: str) -> None:
        values = (*self._owner(scope), name, path, self._clock.now())

        def job(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO artifacts VALUES (?, ?, ?, ?, ?, ?, ?)", values)

        await self._database.write(job)

    async def path(self, scope: Scope, name: str) -> str | None:
        values = (*self._owner(scope), name)

        def job(db: sqlite3.Connection) -> str | None:
            row = db.execute(f"SELECT path FROM artifacts WHERE {OWNER} AND name = ?", values).fetchone()
            return row["path"] if row else None

        return await self._database.read(job)

    async def names(self, scope: Scope) -> list[str]:
        values = self._owner(scope)

        def job(db: sqlite3.Connection) -> list[str]:
            rows = db.execute(f"SELECT name FROM artifacts WHERE {OWNER} ORDER BY name", values)
            return [row["name"] for row in rows]

        return await self._database.read(job)

    async def erase(self, scope: Scope, level: Level) -> int:
        condition, owner = below(self._keys, scope, level)

        def job(db: sqlite3.Connection) -> int:
            return db.execute(f"DELETE FROM artifacts WHERE {condition}", owner).rowcount

        return await self._database.write(job)

    async def at_rest(self) -> PlaceReport:
        def job(db: sqlite3.Connection) -> PlaceReport:
            return report(db.execute("SELECT * FROM artifacts").fetchall(), self._keys, "artifacts")

        return await self._database.read(job)

    def _owner(self, scope: Scope) -> tuple[str, ...]:
        return self._keys.row(scope.require(Level.TASK), Level.TASK)
