"""One SQLite file: its connections, its full-text index, and how its schema is made and brought up."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from ..refusals import StoreDown
from .database import Connection, Table
from .migrations import FIRST, VERSION, refuse_newer

T = TypeVar("T")

_INDEX = "CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5(owner, memory_id UNINDEXED, text)"


class Fts5:
    """Full text by SQLite's FTS5; every entry carries its owner's term."""

    def add(self, db: Connection, row: Sequence[str], owner: str, memory_id: str, text: str) -> None:
        db.execute("INSERT INTO memory_index (owner, memory_id, text) VALUES (?, ?, ?)", (owner, memory_id, text))

    def remove(self, db: Connection, owner: str, memory_id: str) -> None:
        entry = "memory_index MATCH ? AND memory_id = ?"
        db.execute(f"DELETE FROM memory_index WHERE {entry}", (f'owner : "{owner}"', memory_id))

    def matching(self, owner: str, terms: Sequence[str]) -> tuple[str, tuple[object, ...]]:
        words = " OR ".join(f'"{term}"' for term in terms)
        query = f'owner : "{owner}" AND text : ({words})'
        return "memory_id IN (SELECT memory_id FROM memory_index WHERE memory_index MATCH ?)", (query,)

    def sweep(self, db: Connection) -> int:
        removed = db.execute(
            "DELETE FROM memory_index WHERE memory_id NOT IN (SELECT memory_id FROM memories)"
        ).rowcount
        # Merged at once: a deleted term would stay in a segment.
        db.execute("INSERT INTO memory_index (memory_index) VALUES ('optimize')")
        return removed

    def at_rest(self, db: Connection) -> list[tuple[str, str]]:
        return [(row["owner"], row["text"]) for row in db.execute("SELECT owner, text FROM memory_index")]


def connect(path: Path | None, durable: bool = True, create: bool = True) -> sqlite3.Connection:
    """A connection that any one thread at a time may use; in memory without a path.

    Raises StoreDown where the file cannot be opened, or is not there and is not to be made.
    """
    address = ":memory:" if path is None else f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}"
    connection = None
    try:
        connection = sqlite3.connect(address, isolation_level=None, check_same_thread=False, timeout=10.0, uri=True)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute("PRAGMA secure_delete = ON")
    except sqlite3.DatabaseError as error:
        if connection is not None:
            connection.close()
        raise StoreDown from error
    return connection


def transaction(connection: sqlite3.Connection, job: Callable[[Connection], T], begin: str) -> T:
    """Run `job` between `begin` and a commit; what it raises rolls everything back.

    Raises StoreDown where the transaction cannot even begin: the file is locked for too long, or cannot be read.
    """
    try:
        connection.execute(begin)
    except sqlite3.OperationalError as error:
        raise StoreDown from error
    try:
        result = job(connection)
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return result


def prepare(
    connection: sqlite3.Connection,
    tables: Sequence[Table],
    name: str,
    fulltext: bool = True,
    opening: Sequence[str] = (),
) -> None:
    """Make the schema, or bring an older one up, in one transaction: of two processes that start, one finds it done.

    Raises UsageError for a file that a newer program has written.
    """

    def job(db: Connection) -> None:
        found = _version(db)
        refuse_newer(found, f"database {name}")
        if found == FIRST:
            _number_memories_by_owner(db, {table.name: table for table in tables})
        for statement in [each for table in tables for each in _made(db, table)] + [_INDEX] * fulltext + list(opening):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")

    transaction(connection, job, "BEGIN IMMEDIATE")


def _version(db: Connection) -> int:
    row = db.execute("PRAGMA user_version").fetchone()
    assert row is not None
    recorded: int = row["user_version"]
    # Nothing recorded and a tenant's tables there: it dates from before versions were recorded, or from between.
    old = "rid" in _columns(db, "memories")
    return FIRST if not recorded and old else recorded


def _columns(db: Connection, table: str) -> set[str]:
    return {row["name"] for row in db.execute(f"PRAGMA table_info({table})")}


def _made(db: Connection, table: Table) -> list[str]:
    """The statements that make a table, or give it the columns that it does not have yet."""
    there = _columns(db, table.name)
    added = [
        f"ALTER TABLE {table.name} ADD COLUMN {definition}"
        for column, definition in table.definitions().items()
        if there and column not in there
    ]
    columns = ", ".join((table.columns, f"PRIMARY KEY ({_listed(table.key)})"))
    indexes = [
        f"CREATE INDEX IF NOT EXISTS {table.name}_{number} ON {table.name} ({_listed(index)})"
        for number, index in enumerate(table.indexes, 1)
    ]
    return [f"CREATE TABLE IF NOT EXISTS {table.name} ({columns}) WITHOUT ROWID", *added, *indexes]


def _number_memories_by_owner(db: Connection, tables: dict[str, Table]) -> None:
    db.execute("ALTER TABLE memories RENAME TO memories_of_before")
    db.execute("ALTER TABLE memory_index RENAME TO memory_index_of_before")
    for statement in (*_made(db, tables["memories"]), _INDEX):
        db.execute(statement)
    kept = 'tenant, "user", session, task, memory_id, text, at'
    number = 'row_number() OVER (PARTITION BY tenant, "user" ORDER BY rid)'
    db.execute(f"INSERT INTO memories ({kept}, n) SELECT {kept}, {number} FROM memories_of_before")
    db.execute(
        "INSERT INTO memory_index (owner, memory_id, text) SELECT indexed.owner, memories.memory_id, indexed.text"
        " FROM memory_index_of_before AS indexed JOIN memories_of_before AS memories ON memories.rid = indexed.rowid"
    )
    db.execute("DROP TABLE memory_index_of_before")
    db.execute("DROP TABLE memories_of_before")
    db.execute("DROP INDEX IF EXISTS turns_of_task")


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
