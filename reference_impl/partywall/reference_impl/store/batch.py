"""Batch: writes that arrive while one is being committed share the next commit, each with its own fate."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from .database import Connection
from .sqlite_file import transaction

T = TypeVar("T")

MOST = 64
"""Jobs of one commit: those behind them must not wait for ever."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    job: Callable[[Connection], Any]
    done: Future[Any]


class Batch:
    """Runs jobs one after another on the one thread of `executor`, several to a transaction.

    A job sees what those before it did, and stands in a savepoint of its own: what it raises undoes it alone. Nobody is
    told of success before the commit has reached the disk, and all are told where it did not: a commit costs a wait
    for the disk, and whoever came meanwhile can share it.
    """

    def __init__(self, executor: Executor, connection: Callable[[], sqlite3.Connection]) -> None:
        self._executor = executor
        self._connection = connection
        self._waiting: deque[_Waiting] = deque()

    def submit(self, job: Callable[[Connection], T]) -> Future[T]:
        """The outcome of `job`, once it is committed; a job that was cancelled before it began is left out."""
        done: Future[T] = Future()
        self._waiting.append(_Waiting(job, done))
        self._executor.submit(self._commit)
        return done

    def _commit(self) -> None:
        taken: list[_Waiting] = []
        while self._waiting and len(taken) < MOST:
            waiting = self._waiting.popleft()
            if waiting.done.set_running_or_notify_cancel():
                taken.append(waiting)
        if not taken:
            return
        try:
            ended = transaction(self._connection(), lambda db: [_tried(db, each) for each in taken], "BEGIN IMMEDIATE")
        except BaseException as error:
            for each in taken:
                each.done.set_exception(error)
        else:
            for each, (value, failure) in zip(taken, ended, strict=True):
                if failure is None:
                    each.done.set_result(value)
                else:
                    each.done.set_exception(failure)


def _tried(db: Connection, waiting: _Waiting) -> tuple[Any, BaseException | None]:
    db.execute("SAVEPOINT job")
    try:
        value = waiting.job(db)
    except Exception as failure:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK TO job")
        db.execute("RELEASE job")
        return None, failure
    db.execute("RELEASE job")
    return value, None
