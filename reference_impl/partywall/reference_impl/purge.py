"""Erasing a scope from every place it was copied to, as a job that survives a crash."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
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
_AGAIN = "again"
"""Main, index and cache once more. A turn that is heard while some place still holds what others have lost tells it
into a session made anew; once all have lost it, no turn can, and what was told till then goes here."""
_TOLD_FROM = ("main", "index", "cache")
_BYTES = "bytes"
"""The last step: what was erased lies in no write-ahead log and no free page."""


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
        self._tables = tables
        self._memories = tables[2]
        self._cache = cache
        self._log = log
        self._erasers: Mapping[str, Callable[[Scope, Level], Awaitable[int]]] = {
            "main": self._erase_main,
            "index": self._erase_index,
            "objects": artifacts.erase,
            "cache": cache.drop,
            "log": self._erase_log,
            _AGAIN: self._erase_again,
            _BYTES: self._erase_bytes,
        }

    async def run(self, scope: Scope, level: Level) -> dict[str, object]:
        """Erase place by place; the report counts what each place confirmed. ScopeError without the ids.

        What fails is raised, and leaves the job open: `resume` goes on with the places that have not confirmed.
        """
        scope.require(level)
        job = uuid4().hex
        values = (job, *scope.path, int(level))

        def begin(db: Connection) -> None:
            db.execute("INSERT INTO purges VALUES (?, ?, ?, ?, ?, ?, '{}')", values)

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

    async def erase(self, place: str, scope: Scope, level: Level) -> int:
        """Erase one place; how much went. Doing it again does no harm: a crash may come before it is confirmed."""
        return await self._erasers[place](scope, level)

    async def confirm(self, job: str, confirmed: Mapping[str, int]) -> None:
        """Note durably which places are done."""
        text = json.dumps(confirmed)

        def note(db: Connection) -> None:
            db.execute("UPDATE purges SET confirmed = ? WHERE job = ?", (text, job))

        await self._database.control(note)

    async def forget(self, job: str) -> None:
        """Take the job's own record away: it names the scope, and must not be what is left of it."""

        def remove(db: Connection) -> None:
            db.execute("DELETE FROM purges WHERE job = ?", (job,))

        await self._database.control(remove)

    async def _finish(self, job: str, scope: Scope, level: Level, confirmed: dict[str, int]) -> dict[str, object]:
        for place in (*PLACES, _AGAIN, _BYTES):
            if place not in confirmed:
                confirmed[place] = await self.erase(place, scope, level)
                await self.confirm(job, confirmed)
        await self.forget(job)
        await self._compact(scope)
        self._log.write("purged", None, level=level.label, job=job)
        return {"level": level.label, "done": True, "removed": {place: confirmed[place] for place in PLACES}}

    async def _erase_main(self, scope: Scope, level: Level) -> int:
        if level is Level.TENANT and (dropped := await self._database.drop(scope.tenant)) is not None:
            return dropped
        return sum([await table.erase(scope, level) for table in self._tables])

    async def _erase_index(self, scope: Scope, level: Level) -> int:
        if level is Level.TENANT and (dropped := await self._database.drop(scope.tenant)) is not None:
            return dropped  # the index went with the rows; a sweep would make the tenant anew
        return await self._memories.erase_index(scope, level)

    async def _erase_again(self, scope: Scope, level: Level) -> int:
        return sum([await self.erase(place, scope, level) for place in _TOLD_FROM])

    async def _erase_log(self, scope: Scope, level: Level) -> int:
        return await asyncio.to_thread(self._log.erase, scope, level)

    async def _erase_bytes(self, scope: Scope, level: Level) -> int:
        await self._compact(scope)
        return 0

    async def _compact(self, scope: Scope) -> None:
        await self._database.compact(scope.tenant)
        await self._cache.compact()
