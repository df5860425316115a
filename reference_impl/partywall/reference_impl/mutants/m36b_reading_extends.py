"""M36b: every read of a session moves its end."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..store.contract import Turn
from ..store.database import Connection
from ..store.sessions import SqlSessions
from ..store.shortening import SESSION
from .seeded import Mutant


class Sliding(SqlSessions):
    """A session lives as long as somebody looks at it."""

    async def turns(self, scope: Scope, limit: int | None = None) -> list[Turn]:
        def touch(db: Connection) -> None:
            values = (self._clock.now(), *self._owner(scope))
            db.execute(f"UPDATE sessions SET created_at = ? WHERE {SESSION}", values)

        await self._database.write(scope.tenant, touch)
        return await super().turns(scope, limit)


MUTANT = Mutant(
    id="M36b",
    title="expiry slides with every read",
    caught_by=frozenset({"PW301", "PW302"}),
    seen_in="session_info after list_turns; append_turn past the end",
    build=lambda parts: replace(parts, sessions=Sliding),
)
