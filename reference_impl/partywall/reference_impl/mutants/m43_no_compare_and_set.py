"""M43: the version that a commit was made from is not compared, so that an old conclusion is written again."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..append import Appended, Draft
from ..store.database import Connection
from ..store.sessions import SqlSessions
from .seeded import Mutant


class NoCompare(SqlSessions):
    """Takes the version that is there for the one that was read."""

    def _append(self, db: Connection, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        row = self._row(db, self._owner(scope))
        return super()._append(db, scope, draft, row["version"] if row else None)


MUTANT = Mutant(
    id="M43",
    title="compare-and-set missing",
    caught_by=frozenset({"PW211"}),
    seen_in="two commits from one version: both are taken",
    build=lambda parts: replace(parts, sessions=NoCompare),
)
