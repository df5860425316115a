"""PostgreSQL behind the tables: each transaction serializable, in a role that sees one tenant."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import psycopg
from partywall.canaries import PartywallError, UsageError

from ...refusals import Conflict, Invalid, Limited, StoreDown
from ...settings import resolve
from ..database import Connection, Table
from .connections import Connections, Session, Statements, unhurried
from .fulltext import POSTINGS, Postings
from .schema import APP, OPERATOR, TENANT, Layout, number_of, run
from .text import stored

T = TypeVar("T")

ATTEMPTS = 12
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL SERIALIZABLE"
_AGAIN = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation)


class CommitUnknown(PartywallError):
    """The connection was lost while a commit was under way: it may have been applied."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a tenant's rows lie: in a slot of partitions here, or, by a route, in another database."""

    slot: str
    state: str
    route: str | None
    route_schema: str | None

    @property
    def here(self) -> bool:
        """Whether its rows are read and written in this database."""
        return self.state == "live" and self.route is None


class Routes:
    """The databases of tenants that were pulled out, opened when they are first needed."""

    def __init__(self, opened: Callable[[str, str], PostgresDatabase]) -> None:
        self._opened = opened
        self._open: dict[tuple[str, str], PostgresDatabase] = {}
        self._guard = threading.Lock()

    def at(self, route: str, schema: str) -> PostgresDatabase:
        """The deployment `schema` of the database whose URL `route` refers to. UsageError where it is not set."""
        with self._guard:
            found = self._open.get((route, schema))
            if found is None:
                found = self._open[route, schema] = self._opened(resolve(route) or "", schema)
            return found

    def of(self, home: Home) -> PostgresDatabase:
        """Where a tenant was pulled out to. Raises StoreDown where this agent has no URL for it."""
        assert home.route is not None
        try:
            return self.at(home.route, home.route_schema or "")
        except UsageError as error:
            raise StoreDown("the store of this tenant") from error

    def close(self) -> None:
        with self._guard:
            found, self._open = list(self._open.values()), {}
        for each in found:
            each.close()


class PostgresDatabase:
    """One schema for a deployment, its tables partitioned by tenant under row-level security.

    A transaction runs as a role that sees the rows of its tenant only, whatever its statements say. A tenant's
    transactions hold a shared advisory lock; making, dropping or moving its partitions takes it alone, so that no
    transaction ever meets half of a tenant.
    """

    def __init__(
        self, url: str, schema: str, tables: Sequence[Table], control: Sequence[Table], threads: int = 8
    ) -> None:
        self.fulltext = Postings()
        self.layout = Layout(schema, (*tables, POSTINGS), control)
        self.connections = Connections(url, schema)
        self.routes = Routes(self._elsewhere)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="partywall-postgres")
        try:
            self._threads.submit(_again, self._prepare).result()
        except BaseException:
            self.close()
            raise

    async def read(self, tenant: str, job: Callable[[Connection], T]) -> T:
        return await self._in_thread(lambda: self._of_tenant(tenant, job, _READ))

    async def write(self, tenant: str, job: Callable[[Connection], T]) -> T:
        return await self._in_thread(lambda: self._of_tenant(tenant, job, _WRITE))

    async def everywhere(self, job: Callable[[Connection], list[T]]) -> list[T]:
        """Tenant by tenant, each in a snapshot of its own: a statement over all partitions would lock them all."""

        def walk() -> list[T]:
            found = self._control(lambda db: list(db.execute("SELECT tenant FROM tenants ORDER BY tenant")), _READ)
            return [each for row in found for each in self._as_operator(row["tenant"], job)]

        return await self._in_thread(walk)

    async def control(self, job: Callable[[Connection], T]) -> T:
        return await self._in_thread(lambda: self._control(job, _WRITE))

    async def drop(self, tenant: str) -> int | None:
        return await self._in_thread(lambda: self.drop_now(tenant))

    async def compact(self, tenant: str) -> None:
        """Free the pages of what was erased. PostgreSQL's log and its backups keep it until they are recycled."""
        await self._in_thread(lambda: _again(lambda: self._vacuum(tenant)))

    def close(self) -> None:
        """Wait for what runs, then close every connection."""
        self._threads.shutdown(wait=True)
        self.connections.close()
        self.routes.close()

    async def _in_thread(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, job)

    def _elsewhere(self, url: str, schema: str) -> PostgresDatabase:
        layout = self.layout
        tables = [table for table in layout.tables if table is not POSTINGS]
        return PostgresDatabase(url, schema, tables, layout.control, threads=1)

    def _prepare(self) -> None:
        with self.connections.taken("SELECT 1") as session:
            self.layout.prepare(session)

    def _of_tenant(self, tenant: str, job: Callable[[Connection], T], begin: str) -> T:
        def attempt() -> T:
            with self._shared(tenant) as session:
                with transaction(session, begin):
                    home = self._enter(session, tenant)
                    if begin == _READ if home is None else home.here:
                        return job(Statements(session, tenant))
                if home is not None and home.route is not None and home.state == "live":
                    # Inside the lock: the tenant is not moved or dropped between the look and the call.
                    return self.routes.of(home)._of_tenant(tenant, job, begin)
            self._make(tenant)
            raise psycopg.errors.SerializationFailure("its partitions were made just now")

        return _again(attempt)

    def _as_operator(self, tenant: str, job: Callable[[Connection], list[T]]) -> list[T]:
        def attempt() -> list[T]:
            with self._shared(tenant) as session:
                with transaction(session, _READ):
                    home = self.home_of(session, tenant)
                    if home is not None and home.here:
                        run(session, f'SET LOCAL search_path = "{home.slot}"')
                        return job(Statements(session, tenant))
                if home is not None and home.route is not None:
                    return self.routes.of(home)._as_operator(tenant, job)
                return []

        return _again(attempt)

    def _control(self, job: Callable[[Connection], T], begin: str) -> T:
        def attempt() -> T:
            with self.connections.taken(begin) as session, transaction(session):
                self.become(session, OPERATOR)
                return job(Statements(session))

        return _again(attempt)

    def _make(self, tenant: str) -> None:
        with self.alone(tenant) as session:
            with transaction(session, "BEGIN"):
                home = self.home_of(session, tenant)
            if home is not None and home.state == "live":
                return
            if home is not None:
                self._discard(session, tenant, home)
            with transaction(session, "BEGIN"):
                # Attaching takes turns; the tables stay open to everybody else.
                session.execute("SELECT pg_advisory_xact_lock(%s)", (number_of(self.layout.schema, "partitions"),))
                self.layout.make_partitions(session, tenant)
                self.become(session, OPERATOR)
                session.execute(
                    "INSERT INTO tenants (tenant, slot) VALUES (%s, %s)", (stored(tenant), self.layout.slot(tenant))
                )

    def drop_now(self, tenant: str) -> int:
        """As `drop`, in this thread."""
        return _again(lambda: self._drop(tenant))

    def write_now(self, tenant: str, job: Callable[[Connection], T]) -> T:
        """As `write`, in this thread."""
        return self._of_tenant(tenant, job, _WRITE)

    def _drop(self, tenant: str) -> int:
        with self.alone(tenant) as session:
            with transaction(session, "BEGIN"):
                home = self.home_of(session, tenant)
                if home is None:
                    return 0
                rows = self._rows(session, home) if home.here else 0
                run(session, f'SET LOCAL search_path = "{self.layout.schema}"')
                session.execute("UPDATE tenants SET state = 'dropping' WHERE tenant = %s", (stored(tenant),))
            return rows + self._discard(session, tenant, home)

    def _rows(self, session: Session, home: Home) -> int:
        run(session, f'SET LOCAL search_path = "{home.slot}"')
        counts = [session.execute(f"SELECT COUNT(*) AS n FROM {table.name}").fetchone() for table in self.layout.tables]
        return sum(row["n"] for row in counts if row is not None)

    def _discard(self, session: Session, tenant: str, home: Home) -> int:
        """Remove a tenant that is being dropped, here and where it was pulled out to; how many rows went there."""
        rows = self.routes.of(home).drop_now(tenant) if home.route is not None else 0
        self.discard_partitions(session, home)
        with transaction(session, "BEGIN"):
            self.become(session, OPERATOR)
            session.execute("DELETE FROM tenants WHERE tenant = %s", (stored(tenant),))
        return rows

    def discard_partitions(self, session: Session, home: Home) -> None:
        """Drop a tenant's partitions here, by who holds its lock alone."""
        key = number_of(self.layout.schema, "partitions")
        session.execute("SELECT pg_advisory_lock(%s)", (key,))
        try:
            with unhurried(session):
                self.layout.detach(session, home.slot)
        finally:
            if not session.closed:
                session.execute("SELECT pg_advisory_unlock(%s)", (key,))

    def identity(self) -> str:
        """The id of this deployment's schema, given to it when it was made."""

        def job(db: Connection) -> str:
            row = db.execute("SELECT id FROM deployment").fetchone()
            assert row is not None
            return str(row["id"])

        return self._control(job, _READ)

    def _vacuum(self, tenant: str) -> None:
        with self._shared(tenant) as session:
            with transaction(session, "BEGIN"):
                home = self.home_of(session, tenant)
            if home is not None and home.here:
                names = ", ".join(f'"{home.slot}".{table.name}' for table in self.layout.tables)
                with unhurried(session):
                    run(session, f"VACUUM {names}")
            elif home is not None and home.route is not None:
                self.routes.of(home)._vacuum(tenant)

    @contextmanager
    def _shared(self, tenant: str) -> Iterator[Session]:
        key = number_of(self.layout.schema, tenant)
        with self.connections.taken(
            f"SELECT pg_advisory_lock_shared({key})", f"SELECT pg_advisory_unlock_shared({key})"
        ) as session:
            yield session

    @contextmanager
    def alone(self, tenant: str) -> Iterator[Session]:
        key = number_of(self.layout.schema, tenant)
        with self.connections.taken(f"SELECT pg_advisory_lock({key})", f"SELECT pg_advisory_unlock({key})") as session:
            yield session

    def _enter(self, session: Session, tenant: str) -> Home | None:
        """Become the tenant's role, for this transaction; where its rows lie."""
        self.become(session, APP, tenant)
        return _registered(session, tenant)

    def home_of(self, session: Session, tenant: str) -> Home | None:
        self.become(session, OPERATOR)
        return _registered(session, tenant)

    def become(self, session: Session, role: str, tenant: str = "") -> None:
        """Take a role in this deployment's schema, and a tenant, until the transaction ends."""
        session.execute(
            "SELECT set_config('search_path', %s, true), set_config('role', %s, true), set_config(%s, %s, true)",
            (f'"{self.layout.schema}"', role, TENANT, stored(tenant)),
        )


def _registered(session: Session, tenant: str) -> Home | None:
    wanted = "SELECT slot, state, route, route_schema FROM tenants WHERE tenant = %s"
    row = session.execute(wanted, (stored(tenant),)).fetchone()
    return Home(**row) if row else None


@contextmanager
def transaction(session: Session, begin: str = "") -> Iterator[None]:
    """A transaction that `begin` begins, or that has begun; committed at the end, rolled back for what is raised."""
    if begin:
        run(session, begin)
    yield
    try:
        run(session, "COMMIT")
    except psycopg.OperationalError as error:
        if session.closed and begin != _READ:
            raise CommitUnknown("the connection was lost during a commit; it may have been applied") from error
        raise


def _again(attempt: Callable[[], T]) -> T:
    """Run a transaction until it meets no conflict, ATTEMPTS times at most.

    Raises Conflict after that, StoreDown where the server went away before the commit, Limited for a lock that was not
    had in time, and Invalid for an id or a text longer than PostgreSQL's pages and indexes take.
    """
    for number in range(1, ATTEMPTS + 1):
        try:
            return attempt()
        except _AGAIN:
            if number == ATTEMPTS:
                raise Conflict("others wrote here at the same time; nothing was written") from None
            time.sleep(random.uniform(0, min(0.1, 0.002 * 2**number)))
        except psycopg.errors.ProgramLimitExceeded:
            raise Invalid("an id or a text is too long for this store; nothing was written") from None
        except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled):
            raise Limited("the store is busy; nothing was written") from None
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StoreDown from error
    raise AssertionError("unreachable")
