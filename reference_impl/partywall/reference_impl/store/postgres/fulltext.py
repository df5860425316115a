"""Full text in PostgreSQL: one row for each word of a memory, under its owner's term.

Not a tsvector: `@@` is not leakproof, so under row-level security PostgreSQL never takes an index for it, and would
read every memory of the owner. Equality of texts is leakproof.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ...words import words
from ..database import Connection, Table
from .connections import Statements

POSTINGS = Table(
    "memory_index",
    'tenant TEXT NOT NULL, "user" TEXT NOT NULL, owner TEXT NOT NULL, term TEXT NOT NULL, memory_id TEXT NOT NULL',
    ("tenant", "owner", "term", "memory_id"),
    (("tenant", "memory_id"),),
)
_LONGEST_TERM = 200
_AT_ONCE = 1000


class Postings:
    """The words of memories, each with its owner's term; tenant and user stand beside them as in every table."""

    def add(self, db: Connection, row: Sequence[str], owner: str, memory_id: str, text: str) -> None:
        found = [_term(word) for word in words(text)]
        for start in range(0, len(found), _AT_ONCE):
            some = found[start : start + _AT_ONCE]
            values = [value for term in some for value in (row[0], row[1], owner, term, memory_id)]
            rows = ", ".join(["(?, ?, ?, ?, ?)"] * len(some))
            db.execute(f'INSERT INTO memory_index (tenant, "user", owner, term, memory_id) VALUES {rows}', values)

    def remove(self, db: Connection, owner: str, memory_id: str) -> None:
        mine = "tenant = ? AND owner = ? AND memory_id = ?"
        db.execute(f"DELETE FROM memory_index WHERE {mine}", (_tenant(db), owner, memory_id))

    def matching(self, owner: str, terms: Sequence[str]) -> tuple[str, tuple[object, ...]]:
        # The tenant is part of the join: a statement that names it once reads its partitions alone.
        places = ", ".join("?" * len(terms))
        found = f"SELECT tenant, memory_id FROM memory_index WHERE owner = ? AND term IN ({places})"
        return f"(tenant, memory_id) IN ({found})", (owner, *map(_term, terms))

    def sweep(self, db: Connection) -> int:
        tenant = _tenant(db)
        left = "NOT IN (SELECT memory_id FROM memories WHERE tenant = ?)"
        return db.execute(f"DELETE FROM memory_index WHERE tenant = ? AND memory_id {left}", (tenant, tenant)).rowcount

    def at_rest(self, db: Connection) -> list[tuple[str, str]]:
        rows = db.execute("SELECT owner, memory_id, term FROM memory_index ORDER BY owner, memory_id, term")
        entries: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            entries.setdefault((row["owner"], row["memory_id"]), []).append(row["term"])
        return [(owner, " ".join(found)) for (owner, _), found in entries.items()]


def _tenant(db: Connection) -> str:
    assert isinstance(db, Statements)
    return db.tenant


def _term(word: str) -> str:
    # A word too long for an index entry stands there by its digest; no word holds a `~`.
    return word if len(word.encode()) <= _LONGEST_TERM else "~" + hashlib.sha256(word.encode()).hexdigest()
