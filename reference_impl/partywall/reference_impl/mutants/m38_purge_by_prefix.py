"""M38: a purge deletes by a prefix of the tenant's name."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..store.database import Connection
from ..store.sessions import SqlSessions
from .seeded import Mutant


class ByPrefix(SqlSessions):
    """tenant-1 takes tenant-10 with it."""

    async def erase(self, scope: Scope, level: Level) -> int:
        if level is not Level.TENANT:
            return await super().erase(scope, level)

        def job(db: Connection) -> int:
            begins = "substr(tenant, 1, length(?)) = ?"
            values = (scope.tenant, scope.tenant)
            tables = ("requests", "turns", "sessions")
            return sum(db.execute(f"DELETE FROM {table} WHERE {begins}", values).rowcount for table in tables)

        return await self._database.write(scope.tenant, job)


MUTANT = Mutant(
    id="M38",
    title="purge too wide",
    caught_by=frozenset({"PW402"}),
    seen_in="stored_bytes and list_turns of a tenant whose name begins like the purged one's",
    build=lambda parts: replace(parts, sessions=ByPrefix),
)
