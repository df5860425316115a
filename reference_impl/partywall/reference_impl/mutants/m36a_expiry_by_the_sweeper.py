"""M36a: a session has expired when the sweeper has come by, and not before."""

from __future__ import annotations

from dataclasses import replace

from ..store.database import Row
from ..store.sessions import SqlSessions
from .seeded import Mutant


class UntilSwept(SqlSessions):
    """Takes writes until the session is archived, though it says that it has expired."""

    def writable(self, row: Row, now: float) -> bool:
        return row["summary"] is None


MUTANT = Mutant(
    id="M36a",
    title="expiry only by the sweeper",
    caught_by=frozenset({"PW301"}),
    seen_in="append_turn between the session's end and the next sweep",
    build=lambda parts: replace(parts, sessions=UntilSwept),
)
