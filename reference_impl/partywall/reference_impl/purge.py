"""Erasing a scope from every place it was copied to, as a job that survives a crash."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from uuid import uuid4

from partywall.canaries import Level, Scope

from .artifacts import Artifacts
from .cache import Cache
from .log import Log
from .store import ArtifactTable, Database, FactTable, MemoryTable, SessionTable, Table
from .store.database import Connection, Row

JOBS = Table(
    "purges",
    'job TEXT NOT NULL, tenant TEXT NOT NULL, "user" TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL,'
    " level BIGINT NOT NULL, confirmed TEXT NOT NULL DEFAULT '{}'",
    ("job",),
)
"""The jobs that are not done yet: they belong to the deployment, so that no purge takes its own."""
PLACES = ("main", "index", "objects", "cache", "log")


class Purge:
    """Removes what lives at a level or below it: a session's purge keeps the user's memory."""

    def __init__(
        self,
        database: Database,
        tables: tuple[SessionTable, FactTable, MemoryTable, ArtifactTable],
        artifacts: Artifacts,
        cache: Cache,
        log: Log,
    ) -> None:
        self._database = database
        self._sessions, self._facts, self._memories, self._artifact_table = tables
        self._artifacts = artifacts
        self._cache = cache
        self._log = log

    async def run(self, scope: Scope, level: Level) -> dict[str, object]:
        """Erase place by place; the report counts what each place confirmed. ScopeError without the ids."""
        scope.require(level)
        job = uuid4().hex
        values = (job, *scope.path, int(level))

        def begin(db: Connection) -> None:
            insert = "INSERT INTO purges VALUES (?, ?, ?, ?, ?, ?, '{}')"
            db.execute(insert, values)

        await self._database.control(begin)
        return await self._finish(job, scope, level, {})

    async def resume(self) -> int:
        """Finish the jobs that a crash left open; how many there were."""

        def unfinished(db: Connection) -> list[Row]:
            return list(db.execute("SELECT * FROM purges"))

        rows = await self._database.control(unfinished)
        for row in rows:
            scope = Scope(row["tenant"], row["user"], row["session"], row["task"])
            await self._finish(row["job"], scope, Level(row["level"]), json.loads(row["confirmed"]))
        return len(rows)

    async def _finish(self, job: str, scope: Scope, level: Level, confirmed: dict[str, int]) -> dict[str, object]:
        for place in PLACES:
            if place not in confirmed:
                confirmed[place] = await self._erasers()[place](scope, level)
                await self._confirm(job, confirmed)
        await self._database.control(lambda db: _forget(db, job))
        await self._database.compact(scope.tenant)
        await self._cache.compact()
        self._log.write("purged", None, level=level.label, job=job)
        return {"level": level.label, "done": True, "removed": confirmed}

    def _erasers(self) -> dict[str, Callable[[Scope, Level], Awaitable[int]]]:
        return {
            "main": self._erase_main,
            "index": self._memories.erase_index,
            "objects": self._artifacts.erase,
            "cache": self._cache.drop,
            "log": self._erase_log,
        }

    async def _erase_main(self, scope: Scope, level: Level) -> int:
        tables = (self._sessions, self._facts, self._memories, self._artifact_table)
        return sum([await table.erase(scope, level) for table in tables])

    async def _erase_log(self, scope: Scope, level: Level) -> int:
        return await asyncio.to_thread(self._log.erase, scope, level)

    async def _confirm(self, job: str, confirmed: dict[str, int]) -> None:
        text = json.dumps(confirmed)

        def note(db: Connection) -> None:
            db.execute("UPDATE purges SET confirmed = ? WHERE job = ?", (text, job))

        await self._database.control(note)


def _forget(db: Connection, job: str) -> None:
    # The job's own record names the scope: it must not be what is left of it.
    db.execute("DELETE FROM purges WHERE job = ?", (job,))
