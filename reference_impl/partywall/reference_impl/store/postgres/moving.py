"""Pulling one tenant out of the shared schema into a database of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import psycopg
from partywall.canaries import PartywallError, UsageError

from ..database import Connection, Table
from .connections import Session, Statements
from .database import PostgresDatabase, transaction
from .schema import OPERATOR, run
from .text import original, stored

_AT_ONCE = 500


def pull_out(home: PostgresDatabase, tenant: str, route: str, schema: str) -> int:
    """Move a tenant's rows to the deployment `schema` of another database, and send its calls there; how many rows.

    `route` is a `${NAME}` reference to the URL, as each agent of the deployment has it in its environment. The tenant's
    calls wait meanwhile, and are refused as limited after five seconds; its neighbours' go on. The copy is one
    snapshot, counted on both sides before the route is set. A run that was cut short is repeated as a whole.

    Raises UsageError where there is no such tenant, or where the other schema is the same one.
    """
    other = home.routes.at(route, schema)
    if other.identity() == home.identity():
        raise UsageError(f"schema {schema} at {route} is the deployment's own; name another schema or database")
    with home.alone(tenant) as session:
        with transaction(session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            found = home.home_of(session, tenant)
            if found is None or found.state != "live":
                raise UsageError("there is no such tenant in this deployment")
            if found.route is None:
                other.drop_now(tenant)  # what an earlier run may have left there
                slot = found.slot
                copied = other.write_now(tenant, lambda db: _copied(session, slot, db, home.layout.tables))
            elif (found.route, found.route_schema) == (route, schema):
                copied = 0
            else:
                raise UsageError(f"this tenant has been pulled out to schema {found.route_schema} at {found.route}")
        with transaction(session, "BEGIN"):
            home.become(session, OPERATOR)
            session.execute(
                "UPDATE tenants SET route = %s, route_schema = %s WHERE tenant = %s", (route, schema, stored(tenant))
            )
        home.discard_partitions(session, found)
    return copied


def _copied(session: Session, slot: str, target: Connection, tables: Sequence[Table]) -> int:
    assert isinstance(target, Statements)
    run(session, f'SET LOCAL search_path = "{slot}"')
    total = 0
    for table in tables:
        columns = ", ".join(f'"{column}"' for column in table.definitions())
        places = ", ".join("?" * len(table.definitions()))
        copied = 0
        for rows in _batches(session, f"SELECT {columns} FROM {table.name}"):
            target.many(f"INSERT INTO {table.name} ({columns}) VALUES ({places})", rows)
            copied += len(rows)
        arrived = target.execute(
            f"SELECT COUNT(*) AS n FROM {table.name} WHERE tenant = ?", (target.tenant,)
        ).fetchone()
        if arrived is None or arrived["n"] != copied:
            raise PartywallError(f"{copied} rows of {table.name} were copied and {arrived} arrived; nothing was moved")
        total += copied
    return total


def _batches(session: Session, statement: str) -> Iterator[list[list[object]]]:
    with psycopg.ServerCursor(session, "moving") as cursor:
        cursor.execute(statement)
        while rows := cursor.fetchmany(_AT_ONCE):
            yield [[original(value) for value in row.values()] for row in rows]
