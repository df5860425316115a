"""M50a: a session grows without bound."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..clock import Clock
from ..keys import Keys
from ..lifecycle import Limits
from ..marks import Marks
from ..store.contract import Early
from ..store.database import Database
from ..store.sessions import SqlSessions
from .seeded import Mutant


class Unbounded(SqlSessions):
    """Knows no most, and offers nothing to be condensed."""

    def __init__(self, database: Database, keys: Keys, clock: Clock, limits: Limits, marks: Marks) -> None:
        super().__init__(database, keys, clock, replace(limits, max_turns=2**31), marks)

    async def early(self, scope: Scope, keep: int) -> Early | None:
        return None


MUTANT = Mutant(
    id="M50a",
    title="session unbounded",
    caught_by=frozenset({"PW306"}),
    seen_in="session_info and list_turns of a session past its limit",
    build=lambda parts: replace(parts, sessions=Unbounded),
)
