"""M37-page: a purge takes the first page of turns, as the listing that it was made from does."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..store.database import Connection, below
from ..store.sessions import SqlSessions
from .seeded import Mutant

PAGE = 2


class FirstPage(SqlSessions):
    """Deletes the turns of the first page, and leaves the rest to a next page that nobody asks for."""

    async def erase(self, scope: Scope, level: Level) -> int:
        condition, owner = below(self._keys, scope, level)

        def job(db: Connection) -> int:
            return db.execute(f"DELETE FROM turns WHERE {condition} AND turn <= ?", (*owner, PAGE)).rowcount

        return await self._database.write(scope.tenant, job)


MUTANT = Mutant(
    id="M37-page",
    title="purge misses the second page",
    caught_by=frozenset({"PW401"}),
    seen_in="stored_bytes, place main, and list_turns after the purge",
    build=lambda parts: replace(parts, sessions=FirstPage),
)
