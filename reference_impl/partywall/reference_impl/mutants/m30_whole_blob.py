"""M30: a session is loaded whole, appended to, and saved whole; the lock that would hide it is gone."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from partywall.canaries import Level, Scope

from ..append import Appended, Draft
from ..store.contract import Turn
from ..store.database import Connection, below
from ..store.sessions import SqlSessions
from .seeded import Mutant
from .unlocked import Unlocked


class WholeBlob(SqlSessions):
    """Load, yield, append, save: of two who loaded the same, the later to save has the only word."""

    async def append(self, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        loaded = await self.turns(scope)
        await asyncio.sleep(0.005)

        def save(db: Connection) -> Appended:
            row = self._row(db, self._owner(scope)) or self._create(db, scope)
            assert row is not None
            number = len(loaded) + 1
            condition, owner = below(self._keys, scope, Level.SESSION)
            db.execute(f"DELETE FROM turns WHERE {condition}", owner)
            for turn in [*loaded, Turn(number, draft.role, draft.text, scope.task)]:
                db.execute(
                    'INSERT INTO turns (tenant, "user", session, task, turn, role, text, at) VALUES (?,?,?,?,?,?,?,?)',
                    (*owner, turn.task, turn.turn, turn.role, turn.text, self._clock.now()),
                )
            db.execute(f"UPDATE sessions SET version = ? WHERE {condition}", (number, *owner))
            return Appended(number, number, row["incarnation"], draft.text)

        return await self._database.write(scope.tenant, save)


MUTANT = Mutant(
    id="M30",
    title="whole-blob read-modify-write",
    caught_by=frozenset({"PW205", "PW209", "PW210", "PW213"}),
    seen_in="list_turns of a session to which several clients appended at once",
    build=lambda parts: replace(parts, sessions=WholeBlob, locks=Unlocked),
    unmasks="locks",
)
