"""Facts: one row a version, owned by the ids of its layer."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..clock import Clock
from ..facts import Assertion, Fact, supersede
from ..keys import Keys
from ..layers import Layer
from .contract import PlaceReport
from .database import OWNER, Connection, Database, Row, Table, below, merged, report

TABLES = (
    Table(
        "facts",
        'tenant TEXT NOT NULL, "user" TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL,'
        " layer TEXT NOT NULL, name TEXT NOT NULL, version BIGINT NOT NULL, value TEXT NOT NULL,"
        " valid_from DOUBLE PRECISION NOT NULL, valid_to DOUBLE PRECISION, recorded_at DOUBLE PRECISION NOT NULL,"
        " source_turn BIGINT, superseded_by BIGINT",
        ("tenant", "user", "session", "task", "layer", "name", "version"),
    ),
)
_FIELDS = "name, value, layer, version, valid_from, valid_to, recorded_at, source_turn, superseded_by"


class SqlFacts:
    """The fact table: every statement is filtered by all four scope columns and the layer."""

    def __init__(self, database: Database, keys: Keys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    async def put(self, scope: Scope, claim: Assertion) -> bool:
        owner = self._owner(scope, claim.layer)
        return await self._database.write(scope.tenant, lambda db: _apply(db, owner, claim))

    async def chain(self, scope: Scope, layer: Layer, name: str | None = None) -> list[Fact]:
        owner = self._owner(scope, layer)

        def job(db: Connection) -> list[Fact]:
            return _chain(db, owner, layer, name)

        return await self._database.read(scope.tenant, job)

    async def carry(self, source: Scope, target: Scope) -> int:
        now = self._clock.now()

        def job(db: Connection) -> int:
            condition, session = below(self._keys, source, Level.SESSION)
            tasks = [
                row["task"]
                for row in db.execute(f"SELECT DISTINCT task FROM facts WHERE {condition} AND layer = 'task'", session)
            ]
            carried = 0
            for task in tasks:
                old = self._owner(replace(source, task=task), Layer.TASK)
                new = self._owner(replace(target, task=task), Layer.TASK)
                for fact in _chain(db, old, Layer.TASK, None):
                    if fact.valid_to is None:
                        _apply(db, new, Assertion(fact.name, fact.value, Layer.TASK, now, None))
                        carried += 1
            return carried

        return await self._database.write(source.tenant, job)

    async def delete(self, scope: Scope, layer: Layer, name: str) -> int:
        values = (*self._owner(scope, layer), layer.value, name)

        def job(db: Connection) -> int:
            return db.execute(f"DELETE FROM facts WHERE {OWNER} AND layer = ? AND name = ?", values).rowcount

        return await self._database.write(scope.tenant, job)

    async def erase(self, scope: Scope, level: Level) -> int:
        condition, owner = below(self._keys, scope, level)

        def job(db: Connection) -> int:
            return db.execute(f"DELETE FROM facts WHERE {condition}", owner).rowcount

        return await self._database.write(scope.tenant, job)

    async def at_rest(self) -> PlaceReport:
        def job(db: Connection) -> list[PlaceReport]:
            return [report(db.execute("SELECT * FROM facts"), self._keys, "facts")]

        return merged(await self._database.everywhere(job))

    def _owner(self, scope: Scope, layer: Layer) -> tuple[str, ...]:
        return self._keys.row(layer.owner(scope), layer.level)


def _chain(db: Connection, owner: tuple[str, ...], layer: Layer, name: str | None) -> list[Fact]:
    named = "" if name is None else " AND name = ?"
    values = (*owner, layer.value) if name is None else (*owner, layer.value, name)
    condition = f"{OWNER} AND layer = ?{named} ORDER BY name, version"
    rows = db.execute(f"SELECT {_FIELDS} FROM facts WHERE {condition}", values)
    return [_fact(row) for row in rows]


def _fact(row: Row) -> Fact:
    plain = {name: row[name] for name in _FIELDS.split(", ")}
    return Fact(**{**plain, "layer": Layer(plain["layer"])})


def _apply(db: Connection, owner: tuple[str, ...], claim: Assertion) -> bool:
    chain = _chain(db, owner, claim.layer, claim.name)
    change = supersede(chain[-1] if chain else None, claim)
    if change.closed is not None:
        closed = change.closed
        db.execute(
            f"UPDATE facts SET valid_to = ?, superseded_by = ? WHERE {OWNER}"
            " AND layer = ? AND name = ? AND version = ?",
            (closed.valid_to, closed.superseded_by, *owner, claim.layer.value, claim.name, closed.version),
        )
    if change.opened is not None:
        new = change.opened
        db.execute(
            f'INSERT INTO facts (tenant, "user", session, task, {_FIELDS}) VALUES ({", ".join("?" * 13)})',
            (
                *(*owner, new.name, new.value, new.layer.value, new.version, new.valid_from, new.valid_to),
                *(new.recorded_at, new.source_turn, new.superseded_by),
            ),
        )
    return change.closed is not None
