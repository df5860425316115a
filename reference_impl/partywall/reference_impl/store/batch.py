"""Batch: writes that arrive while one is being committed share the next commit, each with its own fate."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
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
    done: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


_Ended = tuple[_Waiting, Any, BaseException | None]


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
        self._called = False

    async def run(self, job: Callable[[Connection], T]) -> T:
        """The outcome of `job`, once it is committed; a job that was cancelled before it began is left out."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._waiting.append(_Waiting(job, done, loop))
        self._call()
        return await done

    def _call(self) -> None:
        # `_commit` unsets this before it looks, so whoever finds it set has its job seen.
        if not self._called:
            self._called = True
            self._executor.submit(self._commit)

    def _commit(self) -> None:
        self._called = False
        taken: list[_Waiting] = []
        while self._waiting and len(taken) < MOST:
            waiting = self._waiting.popleft()
            if not waiting.done.cancelled():
                taken.append(waiting)
        if taken:
            _tell(self._committed(taken))
        if self._waiting:
            try:
                self._call()
            except RuntimeError:  # the executor takes nothing more, and what was submitted before is still owed
                self._commit()

    def _committed(self, taken: Sequence[_Waiting]) -> Sequence[_Ended]:
        try:
            return transaction(self._connection(), lambda db: [_tried(db, each) for each in taken], "BEGIN IMMEDIATE")
        except BaseException as error:
            return [(each, None, error) for each in taken]


def _tried(db: Connection, waiting: _Waiting) -> _Ended:
    db.execute("SAVEPOINT job")
    try:
        value = waiting.job(db)
    except Exception as failure:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK TO job")
        db.execute("RELEASE job")
        return waiting, None, failure
    db.execute("RELEASE job")
    return waiting, value, None


def _tell(ended: Sequence[_Ended]) -> None:
    """Wake each event loop once, not once a job."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Ended]] = defaultdict(list)
    for each in ended:
        by_loop[each[0].loop].append(each)
    for loop, told in by_loop.items():
        with suppress(RuntimeError):  # it was closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, told)


def _settle(ended: Sequence[_Ended]) -> None:
    for waiting, value, failure in ended:
        if waiting.done.done():
            continue  # cancelled after its job had begun
        if failure is None:
            waiting.done.set_result(value)
        else:
            waiting.done.set_exception(failure)
