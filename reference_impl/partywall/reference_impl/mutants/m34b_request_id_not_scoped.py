"""M34b: a request id is looked up over all sessions, so that another's is taken for a retry."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..append import Appended, Draft
from ..store.database import Connection, Row
from ..store.sessions import SqlSessions
from .seeded import Mutant


class AnybodysRequest(SqlSessions):
    """The id alone decides whether a request is known."""

    def _earlier(self, db: Connection, scope: Scope, draft: Draft, session: Row) -> Appended | None:
        if draft.request_id is None:
            return None
        known = "SELECT turn FROM requests WHERE request_id = ? AND part = ?"
        row = db.execute(known, (draft.request_id, draft.part)).fetchone()
        if row is None:
            return None
        return Appended(row["turn"], row["turn"], session["incarnation"], draft.text, repeated=True)


MUTANT = Mutant(
    id="M34b",
    title="request id not scoped",
    caught_by=frozenset({"PW204", "PW205", "PW208", "PW209", "PW210", "PW213"}),
    seen_in="list_turns of the second session that used an id: its turn was acknowledged and is not there",
    build=lambda parts: replace(parts, sessions=AnybodysRequest),
)
