"""Long-term memories in SQLite, with an FTS5 index whose every entry carries its owner's term."""

from __future__ import annotations

import hashlib
import sqlite3

from partywall.canaries import Level, Scope

from ..clock import Clock
from ..keys import Keys
from ..knowledge import KnowledgeChunk
from .contract import PlaceReport
from .database import Database, below, report

SCHEMA = """
CREATE TABLE IF NOT EXISTS memories (
  rid INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, user TEXT NOT NULL,
  session TEXT NOT NULL DEFAULT '', task TEXT NOT NULL DEFAULT '',
  memory_id TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL, UNIQUE (tenant, user, memory_id));
CREATE TABLE IF NOT EXISTS memory_counters (
  tenant TEXT NOT NULL, user TEXT NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (tenant, user)) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5(owner, text);
"""
_OWNER = "tenant = ? AND user = ?"
_FOUND = "SELECT memory_id, text, at FROM memories"


class SqliteMemories:
    """The memory table of tenant and user: every statement is filtered by both."""

    def __init__(self, database: Database, keys: Keys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    def owned(self, scope: Scope) -> tuple[str, tuple[str, ...]]:
        """The condition, and its values, that every statement on memories carries."""
        return below(self._keys, scope, Level.USER)

    async def add(self, scope: Scope, text: str) -> str:
        owner = self._owner(scope)
        now = self._clock.now()

        def job(db: sqlite3.Connection) -> str:
            count = "INSERT INTO memory_counters VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET last = last + 1"
            db.execute(count, owner)
            last = db.execute(f"SELECT last FROM memory_counters WHERE {_OWNER}", owner).fetchone()["last"]
            memory_id = self._name(scope, last)
            rid = db.execute(
                "INSERT INTO memories (tenant, user, memory_id, text, at) VALUES (?, ?, ?, ?, ?)",
                (*owner, memory_id, text, now),
            ).lastrowid
            entry = (rid, self._keys.index(scope), text)
            db.execute("INSERT INTO memory_index (rowid, owner, text) VALUES (?, ?, ?)", entry)
            return memory_id

        return await self._database.write(job)

    async def all(self, scope: Scope) -> list[KnowledgeChunk]:
        owned, values = self.owned(scope)
        return await self._select(f"{_FOUND} WHERE {owned} ORDER BY rid", values)

    async def newest(self, scope: Scope, limit: int) -> list[KnowledgeChunk]:
        owned, values = self.owned(scope)
        return await self._select(f"{_FOUND} WHERE {owned} ORDER BY rid DESC LIMIT ?", (*values, limit))

    async def match(self, scope: Scope, terms: list[str]) -> list[KnowledgeChunk]:
        if not terms:
            return []
        # The owner stands in the full-text query *and* in the join: the first makes it quick, the second
        # holds should two owners' terms ever be one. Filtering comes before any limit, or a noisy neighbour
        # would starve the owner's own recall.
        words = " OR ".join(f'"{term}"' for term in terms)
        query = f'owner : "{self._keys.index(scope)}" AND text : ({words})'
        wanted = "rid IN (SELECT rowid FROM memory_index WHERE memory_index MATCH ?)"
        owned, values = self.owned(scope)
        return await self._select(f"{_FOUND} WHERE {wanted} AND {owned} ORDER BY rid", (query, *values))

    async def get(self, scope: Scope, memory_id: str) -> KnowledgeChunk | None:
        owned, values = self.owned(scope)
        found = await self._select(f"{_FOUND} WHERE {owned} AND memory_id = ?", (*values, memory_id))
        return found[0] if found else None

    async def delete(self, scope: Scope, memory_id: str) -> bool:
        owned, values = self.owned(scope)
        return await self._delete(f"{owned} AND memory_id = ?", (*values, memory_id))

    async def erase(self, scope: Scope, level: Level) -> int:
        """Memories only: their index entries are another place's, see `erase_index`."""
        if level > Level.USER:
            return 0
        condition, owner = below(self._keys, scope, level)

        def job(db: sqlite3.Connection) -> int:
            db.execute(f"DELETE FROM memory_counters WHERE {condition}", owner)
            return db.execute(f"DELETE FROM memories WHERE {condition}", owner).rowcount

        return await self._database.write(job)

    async def erase_index(self, scope: Scope, level: Level) -> int:
        """Drop index entries left without a memory, then merge: a deleted term must not stay in a segment."""

        def job(db: sqlite3.Connection) -> int:
            orphans = "DELETE FROM memory_index WHERE rowid NOT IN (SELECT rid FROM memories)"
            removed = db.execute(orphans).rowcount
            db.execute("INSERT INTO memory_index (memory_index) VALUES ('optimize')")
            return removed

        return await self._database.write(job) if level <= Level.USER else 0

    async def at_rest(self) -> PlaceReport:
        def job(db: sqlite3.Connection) -> PlaceReport:
            return report(db.execute("SELECT * FROM memories").fetchall(), self._keys, "memories")

        return await self._database.read(job)

    async def index_at_rest(self) -> PlaceReport:
        def job(db: sqlite3.Connection) -> PlaceReport:
            rows = db.execute("SELECT owner, text FROM memory_index").fetchall()
            return PlaceReport([row["text"] for row in rows], sorted({row["owner"] for row in rows}))

        return await self._database.read(job)

    async def _delete(self, condition: str, values: tuple[str, ...]) -> bool:
        def job(db: sqlite3.Connection) -> bool:
            doomed = f"SELECT rid FROM memories WHERE {condition}"
            db.execute(f"DELETE FROM memory_index WHERE rowid IN ({doomed})", values)
            return db.execute(f"DELETE FROM memories WHERE {condition}", values).rowcount > 0

        return await self._database.write(job)

    async def _select(self, statement: str, values: tuple[object, ...]) -> list[KnowledgeChunk]:
        def job(db: sqlite3.Connection) -> list[KnowledgeChunk]:
            rows = db.execute(statement, values)
            return [KnowledgeChunk(row["text"], row["memory_id"], {"at": row["at"]}) for row in rows]

        return await self._database.read(job)

    def _owner(self, scope: Scope) -> tuple[str, ...]:
        return self._keys.row(scope, Level.USER)[:2]

    def _name(self, scope: Scope, number: int) -> str:
        # Numbered per owner, then hashed: an id tells nothing of how much the neighbours have stored.
        text = f"{self._keys.prefix(scope, Level.USER)}{number}"
        return "m" + hashlib.sha256(text.encode("ascii")).hexdigest()[:20]
