"""M36c: a session ends a lifetime after its last activity, so that it need never end."""

from __future__ import annotations

from dataclasses import replace

from ..lifecycle import Life
from ..store.database import Row
from ..store.sessions import SqlSessions
from .seeded import Mutant


class Renewed(SqlSessions):
    """Counts from the last write."""

    def _life(self, row: Row) -> Life:
        return Life(row["last_active"], row["last_active"], row["archived_at"])


MUTANT = Mutant(
    id="M36c",
    title="activity extends the absolute deadline",
    caught_by=frozenset({"PW301", "PW302"}),
    seen_in="session_info after an append; append_turn past the end",
    build=lambda parts: replace(parts, sessions=Renewed),
)
