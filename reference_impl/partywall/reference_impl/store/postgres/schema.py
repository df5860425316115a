"""The schema of a deployment in PostgreSQL: roles, partitioned tables, and one set of partitions per tenant."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import TypeVar
from uuid import uuid4

import psycopg
from partywall.canaries import UsageError
from psycopg import sql

from ...refusals import StoreDown
from ..database import Table
from ..migrations import VERSION, refuse_newer
from .connections import Session, connect
from .text import stored

T = TypeVar("T")

APP = "partywall_app"
"""The role of every tenant's transaction: it sees the rows of `partywall.tenant` and no others."""
OPERATOR = "partywall_operator"
"""The role of operator views, purge jobs and the registry: it sees all rows."""
TENANT = "partywall.tenant"

_REGISTRY = (
    "tenant TEXT COLLATE \"C\" PRIMARY KEY, slot TEXT NOT NULL UNIQUE, state TEXT NOT NULL DEFAULT 'live',"
    " route TEXT, route_schema TEXT"
)
_ROLE = """
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
    CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
DO $$ BEGIN
  IF NOT pg_has_role(current_user, '{role}', 'MEMBER') THEN GRANT {role} TO CURRENT_USER; END IF;
END $$"""


class Layout:
    """Names and statements of one deployment's tables. `tables` belong to tenants, `control` to the deployment."""

    def __init__(self, schema: str, tables: Sequence[Table], control: Sequence[Table]) -> None:
        self.schema = schema
        self.tables = tuple(tables)
        self.control = tuple(control)

    def slot(self, tenant: str) -> str:
        """The schema of a tenant's partitions, by a digest of its id."""
        return f"{self.schema}_t{hashlib.sha256(str(stored(tenant)).encode()).hexdigest()[:20]}"

    def prepare(self, session: Session) -> None:
        """Make what is missing, bring up what is older; of several processes that start at once, one does it.

        Raises UsageError where the database's user may not do what is needed, or where a newer program was here.
        """
        _take_roles(session)
        session.execute("SELECT pg_advisory_lock(%s)", (number_of(self.schema),))
        try:
            with session.transaction():
                self._prepare(session)
        except psycopg.errors.InsufficientPrivilege as error:
            raise UsageError(f"the database's user may not make schema {self.schema}: {_line(error)}") from None
        finally:
            if not session.closed:
                session.execute("SELECT pg_advisory_unlock(%s)", (number_of(self.schema),))

    def make_partitions(self, session: Session, tenant: str, tables: Sequence[Table] | None = None) -> None:
        """The partitions of one tenant, empty, and reached by nobody but through their table or as operator."""
        slot = self.slot(tenant)
        value = sql.Literal(stored(tenant)).as_string(session)
        statements = [f'CREATE SCHEMA IF NOT EXISTS "{slot}"', f'GRANT USAGE ON SCHEMA "{slot}" TO {OPERATOR}']
        for table in self.tables if tables is None else tables:
            parent, name = f'"{self.schema}".{table.name}', f'"{slot}".{table.name}'
            statements.append(f"CREATE TABLE {name} (LIKE {parent} INCLUDING ALL)")
            statements += _guarded(name, app=False)
            statements.append(f"ALTER TABLE {parent} ATTACH PARTITION {name} FOR VALUES IN ({value})")
        run(session, ";\n".join(statements))

    def detach(self, session: Session, slot: str) -> None:
        """Drop a tenant's partitions; neighbours go on meanwhile. Each step can be done again after a crash."""
        for table in self.tables:
            parent, partition = f'"{self.schema}".{table.name}', f'"{slot}".{table.name}'
            # One that was cut short, whosever it was, would keep every other from being detached.
            pending = "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = %s::regclass"
            for row in session.execute(f"{pending} AND inhdetachpending", (parent,)).fetchall():
                run(session, f"ALTER TABLE {parent} DETACH PARTITION {row['name']} FINALIZE")
            attached = "SELECT 1 FROM pg_inherits WHERE inhrelid = to_regclass(%s)"
            if session.execute(attached, (partition,)).fetchone() is not None:
                run(session, f"ALTER TABLE {parent} DETACH PARTITION {partition} CONCURRENTLY")
        run(session, f'DROP SCHEMA IF EXISTS "{slot}" CASCADE')

    def _prepare(self, session: Session) -> None:
        run(session, f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"')
        run(session, f'SET LOCAL search_path = "{self.schema}"')
        found = self._version(session)
        refuse_newer(found, f"database schema {self.schema}")
        if not found:
            run(session, f'GRANT USAGE ON SCHEMA "{self.schema}" TO {APP}, {OPERATOR}')
            run(session, "CREATE TABLE deployment (id TEXT NOT NULL, version BIGINT NOT NULL)")
            run(session, f"CREATE TABLE tenants ({_REGISTRY})")
            run(session, ";\n".join([*_guarded("deployment", app=False), *_guarded("tenants", app=True, write=False)]))
            insert = f"INSERT INTO deployment VALUES ('{uuid4().hex}', {VERSION})"
            as_operator(session, lambda: session.execute(insert))
        if found != VERSION:
            new = [table for table in self.tables if self._bring_up(session, table, partitioned=True)]
            for table in self.control:
                self._bring_up(session, table, partitioned=False)
            as_operator(session, lambda: session.execute(f"UPDATE deployment SET version = {VERSION}"))
            if new and found:
                for row in as_operator(session, lambda: session.execute("SELECT tenant FROM tenants").fetchall()):
                    self.make_partitions(session, row["tenant"], new)

    def _version(self, session: Session) -> int:
        there = session.execute("SELECT to_regclass('deployment') AS there").fetchone()
        if there is None or there["there"] is None:
            return 0
        row = as_operator(session, lambda: session.execute("SELECT version FROM deployment").fetchone())
        assert row is not None
        version: int = row["version"]
        return version

    def _bring_up(self, session: Session, table: Table, partitioned: bool) -> bool:
        """Make a table, or give it the columns that it lacks, its partitions with it; whether it was made."""
        rows = session.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s",
            (self.schema, table.name),
        ).fetchall()
        there = {row["column_name"] for row in rows}
        if not there:
            by = " PARTITION BY LIST (tenant)" if partitioned else ""
            run(session, f"CREATE TABLE {table.name} ({_typed(table.columns)}, PRIMARY KEY ({_listed(table.key)})){by}")
            run(session, ";\n".join(_guarded(table.name, app=partitioned)))
        for column, definition in table.definitions().items():
            if there and column not in there:
                run(session, f"ALTER TABLE {table.name} ADD COLUMN {_typed(definition)}")
        for number, index in enumerate(table.indexes, 1):
            run(session, f"CREATE INDEX IF NOT EXISTS {table.name}_{number} ON {table.name} ({_listed(index)})")
        return not there


def discard(url: str, schema: str) -> None:
    """Remove a deployment's schema and all partitions. Raises StoreDown where no server answers."""
    try:
        session = connect(url, schema)
    except psycopg.OperationalError as error:
        raise StoreDown from error
    try:
        run(session, "SET statement_timeout = 0")
        found = session.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname = %s OR nspname LIKE %s",
            (schema, schema.replace("_", "\\_") + "\\_t%"),
        ).fetchall()
        # One at a time, the tables first: a transaction holds a lock on everything that it drops.
        for name in sorted((row["nspname"] for row in found), key=len):
            run(session, f'DROP SCHEMA IF EXISTS "{name}" CASCADE')
    finally:
        session.close()


def number_of(*names: str) -> int:
    """The number of an advisory lock, by the names of what it guards."""
    digest = hashlib.blake2b("\0".join(str(stored(name)) for name in names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def as_operator(session: Session, job: Callable[[], T]) -> T:
    """Run `job` as the role that sees all rows, inside a transaction that goes on as before."""
    run(session, f"SET LOCAL ROLE {OPERATOR}")
    result = job()
    run(session, "RESET ROLE")
    return result


def run(session: Session, statement: str) -> None:
    """Run a statement made of names and literals of this module."""
    session.execute(statement)


def _guarded(name: str, app: bool, write: bool = True) -> list[str]:
    """Row-level security, forced on the owner too; with `app` the tenant's role sees and writes its own rows."""
    mine = f"tenant = current_setting('{TENANT}', true)"
    rights = "SELECT, INSERT, UPDATE, DELETE"
    statements = [
        f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY everything ON {name} TO {OPERATOR} USING (true) WITH CHECK (true)",
        f"GRANT {rights} ON {name} TO {OPERATOR}",
    ]
    if app:
        statements += [
            f"CREATE POLICY own_tenant ON {name} TO {APP} USING ({mine}) WITH CHECK ({mine})",
            f"GRANT {rights if write else 'SELECT'} ON {name} TO {APP}",
        ]
    return statements


def _take_roles(session: Session) -> None:
    for role in (APP, OPERATOR):
        for attempt in range(5):
            try:
                run(session, _ROLE.format(role=role))
                break
            except psycopg.errors.InsufficientPrivilege:
                user = session.info.user
                raise UsageError(
                    f"database user {user} may not take the role {role}; an administrator has to run:"
                    f' CREATE ROLE {role} NOLOGIN; GRANT {role} TO "{user}"'
                ) from None
            except psycopg.errors.InternalError:
                # "tuple concurrently updated": another process grants it at this moment.
                if attempt == 4:
                    raise
        row = session.execute(
            "SELECT rolsuper OR rolbypassrls AS passes FROM pg_roles WHERE rolname = %s", (role,)
        ).fetchone()
        if row is None or row["passes"]:
            raise UsageError(f"role {role} passes by row-level security, so it would guard nothing: ALTER ROLE {role}")


def _typed(columns: str) -> str:
    # Bytewise order and equality on every server, as in SQLite.
    return re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', columns)


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _line(error: psycopg.Error) -> str:
    return str(error).strip().splitlines()[0]
