"""Long-term memories, with a full-text index whose every entry carries its owner's term."""

from __future__ import annotations

import hashlib

from partywall.canaries import Level, Scope

from ..clock import Clock
from ..embedding import Vector, embed, nearness, packed, unpacked
from ..keys import Keys
from ..knowledge import KnowledgeChunk
from .contract import PlaceReport
from .database import Connection, Database, Row, Table, below, merged, report

TABLES = (
    Table(
        "memories",
        "tenant TEXT NOT NULL, \"user\" TEXT NOT NULL, n BIGINT NOT NULL, session TEXT NOT NULL DEFAULT '',"
        " task TEXT NOT NULL DEFAULT '', memory_id TEXT NOT NULL, text TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,"
        " vector TEXT",
        ("tenant", "user", "n"),
        (("tenant", "user", "memory_id"),),
    ),
    Table(
        "memory_counters",
        'tenant TEXT NOT NULL, "user" TEXT NOT NULL, last BIGINT NOT NULL',
        ("tenant", "user"),
    ),
)
_OWNER = 'tenant = ? AND "user" = ?'
_FOUND = "SELECT memory_id, text, at FROM memories"


class SqlMemories:
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
        now, vector = self._clock.now(), packed(embed(text))

        def job(db: Connection) -> str:
            count = 'INSERT INTO memory_counters VALUES (?, ?, 1) ON CONFLICT (tenant, "user")'
            row = db.execute(f"{count} DO UPDATE SET last = memory_counters.last + 1 RETURNING last", owner).fetchone()
            assert row is not None
            last = row["last"]
            memory_id = self._name(scope, last)
            insert = (
                'INSERT INTO memories (tenant, "user", n, memory_id, text, at, vector) VALUES (?, ?, ?, ?, ?, ?, ?)'
            )
            db.execute(insert, (*owner, last, memory_id, text, now, vector))
            self._database.fulltext.add(db, owner, self._keys.index(scope), memory_id, text)
            return memory_id

        return await self._database.write(scope.tenant, job)

    async def all(self, scope: Scope) -> list[KnowledgeChunk]:
        owned, values = self.owned(scope)
        return await self._select(scope, f"{_FOUND} WHERE {owned} ORDER BY n", values)

    async def newest(self, scope: Scope, limit: int) -> list[KnowledgeChunk]:
        owned, values = self.owned(scope)
        return await self._select(scope, f"{_FOUND} WHERE {owned} ORDER BY n DESC LIMIT ?", (*values, limit))

    async def nearest(self, scope: Scope, vector: Vector, limit: int) -> list[KnowledgeChunk]:
        owned, values = self.owned(scope)

        def job(db: Connection) -> list[KnowledgeChunk]:
            # Only the owner's vectors are ever compared: of the k nearest of all, a filter would leave this owner few.
            rows = db.execute(f"SELECT memory_id, text, at, vector FROM memories WHERE {owned}", values)
            return sorted(map(_embedded, rows), key=lambda chunk: -_near(chunk, vector))[:limit]

        return await self._database.read(scope.tenant, job)

    async def match(self, scope: Scope, terms: list[str]) -> list[KnowledgeChunk]:
        if not terms:
            return []
        # The owner stands in the full-text query *and* in the join: the first makes it quick, the second
        # holds should two owners' terms ever be one. Filtering comes before any limit, or a noisy neighbour
        # would starve the owner's own recall.
        wanted, query = self._database.fulltext.matching(self._keys.index(scope), terms)
        owned, values = self.owned(scope)
        return await self._select(scope, f"{_FOUND} WHERE {wanted} AND {owned} ORDER BY n", (*query, *values))

    async def get(self, scope: Scope, memory_id: str) -> KnowledgeChunk | None:
        owned, values = self.owned(scope)
        found = await self._select(scope, f"{_FOUND} WHERE {owned} AND memory_id = ?", (*values, memory_id))
        return found[0] if found else None

    async def delete(self, scope: Scope, memory_id: str) -> bool:
        owned, values = self.owned(scope)
        return await self._delete(scope, f"{owned} AND memory_id = ?", (*values, memory_id))

    async def erase(self, scope: Scope, level: Level) -> int:
        """Memories only: their index entries are another place's, see `erase_index`."""
        if level > Level.USER:
            return 0
        condition, owner = below(self._keys, scope, level)

        def job(db: Connection) -> int:
            db.execute(f"DELETE FROM memory_counters WHERE {condition}", owner)
            return db.execute(f"DELETE FROM memories WHERE {condition}", owner).rowcount

        return await self._database.write(scope.tenant, job)

    async def erase_index(self, scope: Scope, level: Level) -> int:
        """Drop index entries left without a memory: they are found by that, so that the step can be repeated."""
        if level > Level.USER:
            return 0
        return await self._database.write(scope.tenant, self._database.fulltext.sweep)

    async def at_rest(self) -> PlaceReport:
        def job(db: Connection) -> list[PlaceReport]:
            counters = "SELECT *, '' AS session, '' AS task FROM memory_counters"
            tables = {"memories": "SELECT * FROM memories", "memory_counters": counters}
            return [report(db.execute(statement), self._keys, table) for table, statement in tables.items()]

        return merged(await self._database.everywhere(job))

    async def index_at_rest(self) -> PlaceReport:
        entries = await self._database.everywhere(self._database.fulltext.at_rest)
        return PlaceReport([text for _, text in entries], sorted({owner for owner, _ in entries}))

    async def _delete(self, scope: Scope, condition: str, values: tuple[str, ...]) -> bool:
        def job(db: Connection) -> bool:
            for row in db.execute(
                f'SELECT tenant, "user", memory_id FROM memories WHERE {condition}', values
            ).fetchall():
                owner = self._keys.index(Scope(row["tenant"], row["user"], "", ""))
                self._database.fulltext.remove(db, owner, row["memory_id"])
            return db.execute(f"DELETE FROM memories WHERE {condition}", values).rowcount > 0

        return await self._database.write(scope.tenant, job)

    async def _select(self, scope: Scope, statement: str, values: tuple[object, ...]) -> list[KnowledgeChunk]:
        def job(db: Connection) -> list[KnowledgeChunk]:
            rows = db.execute(statement, values)
            return [KnowledgeChunk(row["text"], row["memory_id"], {"at": row["at"]}) for row in rows]

        return await self._database.read(scope.tenant, job)

    def _owner(self, scope: Scope) -> tuple[str, ...]:
        return self._keys.row(scope, Level.USER)[:2]

    def _name(self, scope: Scope, number: int) -> str:
        # Numbered per owner, then hashed: an id tells nothing of how much the neighbours have stored.
        text = f"{self._keys.prefix(scope, Level.USER)}{number}"
        return "m" + hashlib.sha256(text.encode("ascii")).hexdigest()[:20]


def _embedded(row: Row) -> KnowledgeChunk:
    vector = unpacked(row["vector"]) if row["vector"] else embed(row["text"])
    return KnowledgeChunk(row["text"], row["memory_id"], {"at": row["at"]}, vector)


def _near(chunk: KnowledgeChunk, vector: Vector) -> float:
    return nearness(tuple(chunk.embedding or ()), vector)
