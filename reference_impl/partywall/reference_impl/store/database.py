"""What a database is to the tables above it: transactions for one tenant, in portable SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from partywall.canaries import Level, Scope

from ..keys import Keys
from .contract import PlaceReport

T = TypeVar("T")

OWNER = 'tenant = ? AND "user" = ? AND session = ? AND task = ?'
_COLUMNS = ("tenant", "user", "session", "task")


class Row(Protocol):
    """One row of a result: values by column name."""

    def __getitem__(self, name: str, /) -> Any: ...

    def keys(self) -> Iterable[str]: ...


class Cursor(Protocol):
    """The result of one statement; `rowcount` is the number of rows it changed."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Row | None: ...

    def fetchall(self) -> Sequence[Row]: ...

    def __iter__(self) -> Iterator[Row]: ...


class Connection(Protocol):
    """Runs statements inside the transaction of the job it was handed to. Placeholders are `?`."""

    def execute(self, statement: str, values: Sequence[object] = (), /) -> Cursor: ...


class FullText(Protocol):
    """The full-text index of memories, in whatever form a database has it. `owner` is a term that `Keys` made."""

    def add(self, db: Connection, row: Sequence[str], owner: str, memory_id: str, text: str) -> None:
        """Enter one memory; `row` are the tenant and the user it belongs to."""
        ...

    def remove(self, db: Connection, owner: str, memory_id: str) -> None: ...

    def matching(self, owner: str, terms: Sequence[str]) -> tuple[str, tuple[object, ...]]:
        """The condition, and its values, for memories of `owner` that hold any of the terms (letters and digits)."""
        ...

    def sweep(self, db: Connection) -> int:
        """Drop entries left without a memory, so that no trace of their terms stays; how many."""
        ...

    def at_rest(self, db: Connection) -> list[tuple[str, str]]:
        """(owner, text or terms) of every entry."""
        ...


@dataclass(frozen=True, slots=True)
class Table:
    """A table in portable types (TEXT, BIGINT, DOUBLE PRECISION); its key and each index begin with the tenant."""

    name: str
    columns: str
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...] = ()

    def definitions(self) -> dict[str, str]:
        """Each column's definition by its name, in order. No definition holds a comma."""
        found = [definition.strip() for definition in self.columns.split(",")]
        return {definition.split()[0].strip('"'): definition for definition in found}


class Database(Protocol):
    """Runs functions of a connection, each in a transaction of its own, never on the event loop's thread.

    A cancelled call either never ran or ran to its end. Raises StoreDown where the database cannot be reached:
    nothing of the transaction was applied then.
    """

    @property
    def fulltext(self) -> FullText:
        """Its full-text index."""
        ...

    async def read(self, tenant: str, job: Callable[[Connection], T]) -> T:
        """Run `job` in one snapshot of what is committed of `tenant`."""
        ...

    async def write(self, tenant: str, job: Callable[[Connection], T]) -> T:
        """Run `job` in one write transaction of `tenant`; what it raises rolls everything back."""
        ...

    async def everywhere(self, job: Callable[[Connection], list[T]]) -> list[T]:
        """Run a reading `job` over all tenants: an operator's view."""
        ...

    async def control(self, job: Callable[[Connection], T]) -> T:
        """Run `job` in a write transaction on what belongs to the deployment and to no tenant."""
        ...

    async def drop(self, tenant: str) -> int | None:
        """Remove everything of a tenant at once where the layout can (rows that went); None where it cannot."""
        ...

    async def compact(self, tenant: str) -> None:
        """Leave nothing erased in a log or a free page."""
        ...

    def close(self) -> None: ...


def below(keys: Keys, scope: Scope, level: Level) -> tuple[str, tuple[str, ...]]:
    """The condition, and its values, for rows at or below `level` of the scope."""
    values = keys.row(scope, level)[:level]
    return " AND ".join(f'"{column}" = ?' for column in _COLUMNS[:level]), values


def report(rows: Iterable[Row], keys: Keys, table: str) -> PlaceReport:
    """Rows that hold the four scope columns, as a place report."""
    plain: list[dict[str, Any]] = [dict(row) for row in rows]
    contents = ["\t".join(str(value) for value in row.values()) for row in plain]
    found = {
        keys.prefix(Scope(*(row[column] for column in _COLUMNS)), Level.TASK) + table
        for row in plain
        if row["tenant"] and row["user"]
    }
    return PlaceReport(contents, sorted(found))


def merged(reports: Iterable[PlaceReport]) -> PlaceReport:
    """Several reports of one place as one."""
    found = list(reports)
    return PlaceReport([text for each in found for text in each.contents], [key for each in found for key in each.keys])
