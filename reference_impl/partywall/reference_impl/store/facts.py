"""Facts: one row a claim, owned by the ids of its layer and never changed; what held follows from the rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import groupby

from partywall.canaries import Level, Scope

from ..clock import Clock
from ..facts import Assertion, Claim, Fact, believed, supersede
from ..keys import Keys
from ..layers import Layer
from .contract import PlaceReport
from .database import OWNER, Connection, Database, Row, Table, below, merged, report

TABLES = (
    Table(
        "facts",
        'tenant TEXT NOT NULL, "user" TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL,'
        " layer TEXT NOT NULL, name TEXT NOT NULL, version BIGINT NOT NULL, value TEXT NOT NULL,"
        " valid_from DOUBLE PRECISION NOT NULL, recorded_at DOUBLE PRECISION NOT NULL, source_turn BIGINT,"
        " made_by TEXT NOT NULL DEFAULT '', carried_from TEXT",
        ("tenant", "user", "session", "task", "layer", "name", "version"),
    ),
)
_FIELDS = "name, value, layer, version, valid_from, recorded_at, source_turn, made_by, carried_from"


class SqlFacts:
    """The fact table: every statement is filtered by all four scope columns and the layer."""

    def __init__(self, database: Database, keys: Keys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    async def put(self, scope: Scope, claim: Assertion) -> bool:
        owner = self._owner(scope, claim.layer)
        return await self._database.write(scope.tenant, lambda db: assert_into(db, owner, claim))

    async def chain(
        self, scope: Scope, layer: Layer, name: str | None = None, known_at: float | None = None
    ) -> list[Fact]:
        owner = self._owner(scope, layer)

        def job(db: Connection) -> list[Fact]:
            return chain_of(db, owner, layer, name, known_at)

        return await self._database.read(scope.tenant, job)

    async def conclusions(self, source: Scope) -> list[tuple[str, Fact]]:
        return await self._database.read(source.tenant, lambda db: self._conclusions(db, source))

    async def carry(self, source: Scope, target: Scope, names: Collection[str] | None = None) -> int:
        now, redacted = self._clock.now(), str(self._keys.log(Scope(*source.path[: Level.SESSION])))

        def job(db: Connection) -> int:
            carried = 0
            for task, fact in self._conclusions(db, source):
                if names is None or fact.name in names:
                    new = self._owner(replace(target, task=task), Layer.TASK)
                    made_by = fact.claim.made_by
                    said = Assertion(fact.name, fact.value, Layer.TASK, now, None, None, made_by, redacted)
                    assert_into(db, new, said)
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

    def _conclusions(self, db: Connection, source: Scope) -> list[tuple[str, Fact]]:
        condition, session = below(self._keys, source, Level.SESSION)
        rows = db.execute(
            f"SELECT task, {_FIELDS} FROM facts WHERE {condition} AND layer = 'task' ORDER BY task, name, version",
            session,
        ).fetchall()
        return [
            (task, believed([_claim(row) for row in group])[-1])
            for (task, _), group in groupby(rows, key=lambda row: (row["task"], row["name"]))
        ]

    def _owner(self, scope: Scope, layer: Layer) -> tuple[str, ...]:
        return self._keys.row(layer.owner(scope), layer.level)


def chain_of(
    db: Connection, owner: tuple[str, ...], layer: Layer, name: str | None, known_at: float | None = None
) -> list[Fact]:
    """The versions of an owner's facts, by name and valid time."""
    claims = claims_of(db, owner, layer, name)
    return [fact for _, group in groupby(claims, key=_name) for fact in believed(list(group), known_at)]


def claims_of(db: Connection, owner: tuple[str, ...], layer: Layer, name: str | None) -> list[Claim]:
    """What was asserted of an owner's facts, by name and version."""
    named = "" if name is None else " AND name = ?"
    values = (*owner, layer.value) if name is None else (*owner, layer.value, name)
    condition = f"{OWNER} AND layer = ?{named} ORDER BY name, version"
    return [_claim(row) for row in db.execute(f"SELECT {_FIELDS} FROM facts WHERE {condition}", values)]


def assert_into(db: Connection, owner: tuple[str, ...], said: Assertion) -> bool:
    """Keep what an assertion adds to the claims of its fact; whether there was a version before it."""
    claims = claims_of(db, owner, said.layer, said.name)
    new = supersede(claims, said)
    if new is None:
        return False
    db.execute(
        f'INSERT INTO facts (tenant, "user", session, task, {_FIELDS}) VALUES ({", ".join("?" * 13)})',
        (
            *(*owner, new.name, new.value, new.layer.value, new.version, new.valid_from, new.recorded_at),
            *(new.source_turn, new.made_by, new.carried_from),
        ),
    )
    return bool(claims)


def _claim(row: Row) -> Claim:
    plain = {name: row[name] for name in _FIELDS.split(", ")}
    return Claim(**{**plain, "layer": Layer(plain["layer"])})


def _name(claim: Claim) -> str:
    return claim.name
