"""M50b: the oldest turns are dropped, and nothing says what was in them."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..store.database import Connection
from ..store.sessions import SqlSessions
from .seeded import Mutant


class Dropped(SqlSessions):
    """Makes room, and no note."""

    def _note(self, db: Connection, scope: Scope, text: str, turn: int) -> None:
        """Nobody reads it."""


MUTANT = Mutant(
    id="M50b",
    title="oldest turns dropped without a summary",
    caught_by=frozenset({"PW307"}),
    seen_in="list_facts and context of a task whose early turns are gone",
    build=lambda parts: replace(parts, sessions=Dropped),
)
