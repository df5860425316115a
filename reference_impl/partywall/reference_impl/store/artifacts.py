"""Which artifacts there are; their text lies in the object store."""

from __future__ import annotations

import json

from partywall.canaries import Level, Scope

from ..clock import Clock
from ..keys import Keys
from .contract import PlaceReport, Source
from .database import OWNER, Connection, Database, Table, below, merged, report

TABLES = (
    Table(
        "artifacts",
        'tenant TEXT NOT NULL, "user" TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL, name TEXT NOT NULL,'
        " path TEXT NOT NULL, facts_at DOUBLE PRECISION NOT NULL, size BIGINT NOT NULL DEFAULT 0, template TEXT,"
        " versions TEXT",
        ("tenant", "user", "session", "task", "name"),
    ),
)
_KEPT = ("path", "facts_at", "size", "template", "versions")


class SqlArtifacts:
    """The artifact table: every statement is filtered by all four scope columns.

    `facts_at` is the instant whose facts the artifact rests on, as they were known then; `size` its bytes; `template`
    and `versions` what it was rendered from, if it was.
    """

    def __init__(self, database: Database, keys: Keys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    async def put(self, scope: Scope, name: str, path: str, size: int, source: Source | None = None) -> None:
        at = self._clock.now() if source is None else source.at
        made = (None, None) if source is None else (source.template, json.dumps(source.versions))
        values = (*self._owner(scope), name, path, at, size, *made)

        def job(db: Connection) -> None:
            insert = f'INSERT INTO artifacts (tenant, "user", session, task, name, {", ".join(_KEPT)})'
            again = 'ON CONFLICT (tenant, "user", session, task, name) DO UPDATE SET'
            anew = ", ".join(f"{column} = excluded.{column}" for column in _KEPT)
            db.execute(f"{insert} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) {again} {anew}", values)

        await self._database.write(scope.tenant, job)

    async def source(self, scope: Scope, name: str) -> Source | None:
        values = (*self._owner(scope), name)

        def job(db: Connection) -> Source | None:
            row = db.execute(f"SELECT * FROM artifacts WHERE {OWNER} AND name = ?", values).fetchone()
            if row is None or row["template"] is None:
                return None
            versions = tuple((layer, key, number, at) for layer, key, number, at in json.loads(row["versions"]))
            return Source(row["template"], row["facts_at"], versions)

        return await self._database.read(scope.tenant, job)

    async def path(self, scope: Scope, name: str) -> str | None:
        values = (*self._owner(scope), name)

        def job(db: Connection) -> str | None:
            row = db.execute(f"SELECT path FROM artifacts WHERE {OWNER} AND name = ?", values).fetchone()
            return row["path"] if row else None

        return await self._database.read(scope.tenant, job)

    async def names(self, scope: Scope) -> list[str]:
        values = self._owner(scope)

        def job(db: Connection) -> list[str]:
            rows = db.execute(f"SELECT name FROM artifacts WHERE {OWNER} ORDER BY name", values)
            return [row["name"] for row in rows]

        return await self._database.read(scope.tenant, job)

    async def erase(self, scope: Scope, level: Level) -> int:
        condition, owner = below(self._keys, scope, level)

        def job(db: Connection) -> int:
            return db.execute(f"DELETE FROM artifacts WHERE {condition}", owner).rowcount

        return await self._database.write(scope.tenant, job)

    async def at_rest(self) -> PlaceReport:
        def job(db: Connection) -> list[PlaceReport]:
            return [report(db.execute("SELECT * FROM artifacts"), self._keys, "artifacts")]

        return merged(await self._database.everywhere(job))

    def _owner(self, scope: Scope) -> tuple[str, ...]:
        return self._keys.row(scope.require(Level.TASK), Level.TASK)
