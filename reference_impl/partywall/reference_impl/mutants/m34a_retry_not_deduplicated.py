"""M34a: a request id is ignored, so that a retry is another request."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..append import Appended, Draft
from ..store.database import Connection
from ..store.sessions import SqlSessions
from .seeded import Mutant


class NoDedup(SqlSessions):
    """Stores whatever is delivered, as often as it is delivered."""

    def _append(self, db: Connection, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        return super()._append(db, scope, replace(draft, request_id=None), seen)


MUTANT = Mutant(
    id="M34a",
    title="retry not deduplicated",
    caught_by=frozenset({"PW203", "PW204"}),
    seen_in="list_turns after a request was delivered twice",
    build=lambda parts: replace(parts, sessions=NoDedup),
)
