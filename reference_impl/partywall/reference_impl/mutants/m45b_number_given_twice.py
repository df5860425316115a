"""M45b: turn numbers are given twice."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..append import Appended, Draft
from ..store.sessions import SqlSessions
from .seeded import Mutant

EVERY = 3


class Twice(SqlSessions):
    """Every third turn is acknowledged with the number of the one before it."""

    async def append(self, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        appended = await super().append(scope, draft, seen)
        return appended if appended.turn % EVERY else replace(appended, turn=appended.turn - 1)


MUTANT = Mutant(
    id="M45b",
    title="turn numbers given twice",
    caught_by=frozenset({"PW208", "PW210"}),
    seen_in="the numbers that appends were acknowledged with",
    build=lambda parts: replace(parts, sessions=Twice),
)
