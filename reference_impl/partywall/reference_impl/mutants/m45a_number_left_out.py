"""M45a: turn numbers have gaps."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..append import Appended, Draft
from ..store.database import Connection
from ..store.sessions import SqlSessions
from ..store.shortening import SESSION
from .seeded import Mutant

EVERY = 3


class LeftOut(SqlSessions):
    """After every third turn a number is used up that no turn has."""

    def _append(self, db: Connection, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        appended = super()._append(db, scope, draft, seen)
        if appended.turn % EVERY or appended.repeated:
            return appended
        db.execute(f"UPDATE sessions SET version = version + 1 WHERE {SESSION}", self._owner(scope))
        return replace(appended, version=appended.version + 1)


MUTANT = Mutant(
    id="M45a",
    title="turn numbers with gaps",
    caught_by=frozenset({"PW207", "PW208", "PW212"}),
    seen_in="list_turns, and the numbers that appends were acknowledged with",
    build=lambda parts: replace(parts, sessions=LeftOut),
)
