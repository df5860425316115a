"""PostgreSQL shows a tenant's transaction that tenant's rows, whatever the statement says."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest
from partywall.reference_impl.store.database import Connection, Cursor
from partywall.reference_impl.store.postgres.schema import APP, OPERATOR

from .layouts import ANN, POSTGRES, ZOE, Stored, url_of

pytestmark = pytest.mark.services

TABLES = ("sessions", "turns", "requests", "facts", "memories", "memory_counters", "artifacts", "memory_index")


def test_a_statement_without_a_filter_shows_nothing_foreign(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "anns")
    on_postgres.append(ZOE, "zoes")

    def everything(db: Connection) -> list[str]:
        return [row["text"] for row in db.execute("SELECT * FROM turns")]

    database = on_postgres.system.database
    assert on_postgres.run(database.read("acme", everything)) == ["anns"]
    assert on_postgres.run(database.write("zeta", everything)) == ["zoes"]
    assert on_postgres.run(database.read("nobody", everything)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO artifacts VALUES ('zeta', 'ann', 's1', 'k1', 'paper', 'path', 1)",
        "UPDATE turns SET tenant = 'zeta'",
    ],
)
def test_another_tenants_row_cannot_be_written(on_postgres: Stored, statement: str) -> None:
    on_postgres.append(ANN, "anns")
    on_postgres.append(ZOE, "zoes")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        on_postgres.run(on_postgres.system.database.write("acme", lambda db: db.execute(statement).rowcount))
    assert on_postgres.texts(ZOE) == ["zoes"]


def test_a_write_without_a_filter_changes_nothing_foreign(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "anns")
    on_postgres.append(ZOE, "zoes")
    delete = "DELETE FROM turns"
    assert on_postgres.run(on_postgres.system.database.write("acme", lambda db: db.execute(delete).rowcount)) == 1
    assert on_postgres.texts(ZOE) == ["zoes"]


def test_the_tenants_role_reaches_no_partition_and_no_control_table(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "anns")
    on_postgres.append(ZOE, "zoes")
    with psycopg.connect(url_of(POSTGRES)) as session:
        slots = session.execute("SELECT slot FROM " + on_postgres.settings.store_schema + ".tenants").fetchall()
    assert len(slots) == 2
    for name in [f'"{slot}".turns' for (slot,) in slots] + ["purges", "deployment"]:

        def look(db: Connection, name: str = name) -> Cursor:
            return db.execute(f"SELECT * FROM {name}")

        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            on_postgres.run(on_postgres.system.database.read("acme", look))


def test_the_tenants_role_sees_no_other_tenant_in_the_registry(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "anns")
    on_postgres.append(ZOE, "zoes")

    def registered(db: Connection) -> list[str]:
        return [row["tenant"] for row in db.execute("SELECT tenant FROM tenants")]

    assert on_postgres.run(on_postgres.system.database.read("acme", registered)) == ["acme"]


def test_every_table_has_row_level_security_forced(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "anns")
    schema = on_postgres.settings.store_schema
    with psycopg.connect(url_of(POSTGRES)) as session:
        found = session.execute(
            "SELECT n.nspname, c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.relkind IN ('r', 'p') AND n.nspname LIKE %s",
            (f"{schema}%",),
        ).fetchall()
        passing = session.execute(
            "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s) AND (rolsuper OR rolbypassrls OR rolcanlogin)",
            ([APP, OPERATOR],),
        ).fetchall()
    assert {table for _, table, _ in found} >= {*TABLES, "purges", "tenants", "deployment"}
    assert len([table for _, table, _ in found if table in TABLES]) == 2 * len(TABLES)
    assert [(space, table) for space, table, forced in found if not forced] == []
    assert passing == []


def test_what_one_transaction_was_is_forgotten_by_the_next(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "anns")
    shown = on_postgres.run(
        on_postgres.system.database.control(
            lambda db: db.execute("SELECT current_setting('partywall.tenant', true) AS tenant").fetchone()
        )
    )
    assert shown is not None
    assert not shown["tenant"]


def test_a_tenants_statement_reads_its_own_partitions_alone(on_postgres: Stored) -> None:
    for scope in (ANN, ZOE, replace(ANN, tenant="third")):
        on_postgres.append(scope, "x")

    def plan(db: Connection) -> str:
        wanted, values = on_postgres.system.database.fulltext.matching("owner", ["balloon"])
        query = f"EXPLAIN SELECT text FROM memories WHERE {wanted} AND tenant = ?"
        return "\n".join(str(row["QUERY PLAN"]) for row in db.execute(query, (*values, "acme")))

    shown = on_postgres.run(on_postgres.system.database.read("acme", plan))
    assert "Append" not in shown
    assert "Subplans Removed" not in shown
