"""Connections to a PostgreSQL server: kept, replaced when they broke, and as jobs see them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from ...refusals import Limited, StoreDown
from .text import original, stored

Session = psycopg.Connection[DictRow]

_CONNECT_TIMEOUT = 3
_HURRIED = "SET statement_timeout = '30s'"
_SETTINGS = f"SET client_encoding = 'UTF8'; SET lock_timeout = '5s'; {_HURRIED}"


class Statements:
    """A session as the jobs of one tenant see it: placeholders are `?`, and any text comes back as it went in."""

    def __init__(self, session: Session, tenant: str = "") -> None:
        self._session = session
        self.tenant = tenant

    def execute(self, statement: str, values: Sequence[object] = (), /) -> Result:
        return Result(self._session.execute(_translated(statement), [stored(value) for value in values]))

    def many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for each row of values."""
        with self._session.cursor() as cursor:
            cursor.executemany(_translated(statement), [[stored(value) for value in row] for row in rows])


class Result:
    """The result of one statement, its texts as they were before they were stored."""

    def __init__(self, cursor: psycopg.Cursor[DictRow]) -> None:
        self._cursor = cursor

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def fetchone(self) -> dict[str, Any] | None:
        row = self._cursor.fetchone()
        return None if row is None else _row(row)

    def fetchall(self) -> list[dict[str, Any]]:
        return [_row(row) for row in self._cursor.fetchall()]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.fetchall())


class Connections:
    """Sessions on one server, each used by one thread at a time; made when they are needed. `name` is shown there.

    A server that was away and is back is found by the next that asks: sessions that broke are thrown away.
    """

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._idle: list[Session] = []
        self._guard = threading.Lock()
        self._closed = False

    @contextmanager
    def taken(self, first: str, last: str = "") -> Iterator[Session]:
        """A live session that has just run the statement `first`, and runs `last` before another gets it.

        Raises StoreDown where the server cannot be reached, Limited where `first` waited for a lock too long. What
        must never be left over for the next, a transaction or a lock, ends with the session where it has to.
        """
        session = self._live(first)
        try:
            yield session
        except BaseException:
            with suppress(psycopg.Error):
                session.rollback()
            self._give_back(session, last)
            raise
        self._give_back(session, last)

    def close(self) -> None:
        """Close what is idle, and whatever is given back from now on."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()

    def _live(self, first: str) -> Session:
        while True:
            with self._guard:
                session = self._idle.pop() if self._idle else None
            fresh = session is None
            try:
                session = session or connect(self._url, self._name)
                session.execute(first)
                return session
            except psycopg.errors.LockNotAvailable:
                assert session is not None
                self._give_back(session, "")
                raise Limited("the store is busy; nothing was written") from None
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                if session is not None:
                    session.close()
                if fresh:
                    raise StoreDown from error

    def _give_back(self, session: Session, last: str) -> None:
        try:
            if last and not session.closed:
                session.execute(last)
        except psycopg.Error:
            session.close()
        with self._guard:
            keep = not session.closed and not self._closed
            if keep:
                self._idle.append(session)
        if not keep:
            session.close()


@contextmanager
def unhurried(session: Session) -> Iterator[None]:
    """A while in which statements may take as long as they do: what is large is no fault."""
    session.execute("SET statement_timeout = 0")
    try:
        yield
    finally:
        if not session.closed:
            session.execute(_HURRIED)


def connect(url: str, name: str) -> Session:
    """A session of its own. Raises psycopg.OperationalError where the server does not answer."""
    session = psycopg.connect(
        url,
        autocommit=True,
        row_factory=dict_row,
        # A plan made once would keep all partitions locked; each statement is planned for its own tenant.
        prepare_threshold=None,
        connect_timeout=_CONNECT_TIMEOUT,
        application_name=f"partywall {name}",
        keepalives_idle=10,
        tcp_user_timeout=10_000,
    )
    try:
        session.execute(_SETTINGS)
    except BaseException:
        session.close()
        raise
    return session


def _row(row: DictRow) -> dict[str, Any]:
    return {name: original(value) for name, value in row.items()}


@lru_cache(maxsize=512)
def _translated(statement: str) -> str:
    return statement.replace("%", "%%").replace("?", "%s")
