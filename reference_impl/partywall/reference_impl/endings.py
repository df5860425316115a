"""Ends what is due: of the scope that is addressed before it is looked at, of all scopes when it is swept.

So no sweeper decides what may be seen. What is due follows from times that only later activity moves on, so a scope
that was found to have nothing due is not asked about again before that time comes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable

from partywall.canaries import Level, Scope

from .artifacts import Artifacts
from .caches import Caches
from .clock import Clock
from .lifecycle import Limits, State
from .log import Log
from .store import SessionTable
from .store.last_use import LastUse

MOST_KNOWN = 10_000
"""Scopes of which is remembered until when nothing is due."""


class Endings:
    """Archives sessions whose time has come, and ends layers of tasks and users that nobody used for long.

    Every step is one transaction that asks again whether it is due; after a crash the next look does the rest.
    """

    def __init__(
        self,
        sessions: SessionTable,
        uses: LastUse,
        artifacts: Artifacts,
        caches: Caches,
        clock: Clock,
        limits: Limits,
        log: Log,
    ) -> None:
        self._sessions = sessions
        self._uses = uses
        self._artifacts = artifacts
        self._caches = caches
        self._clock = clock
        self._limits = limits
        self._log = log
        self._quiet: OrderedDict[Scope, float] = OrderedDict()

    async def settle(self, scope: Scope) -> None:
        """End what is due of this user, this session and its tasks."""
        await self._settle(Scope(*scope.path[: Level.USER]), self._user)
        if scope.session:
            await self._settle(Scope(*scope.path[: Level.SESSION]), self._session)

    async def archive(self, scope: Scope, due: bool = False) -> bool:
        """Clear a session's text and keep its record and a summary; whether it was done now."""
        archived = await self._sessions.archive(scope, due)
        # Every time: a crash may have come between the two.
        await self._caches.changed(scope, Level.SESSION)
        if archived:
            self._log.write("session_archived", Scope(*scope.path[: Level.SESSION]))
        return archived

    async def sweep(self) -> int:
        """End what is due of all; how many sessions were archived. Doing it twice, or half, does no harm."""
        archived, now = 0, self._clock.now()
        for session in await self._sessions.everywhere():
            if session.summary is None and session.life.state(now, self._limits) is State.ARCHIVED:
                archived += await self.archive(session.scope, due=True)
        for task, at in await self._uses.all_tasks():
            if at < now - self._limits.task_after:
                await self._end_task(task)
        for user, at in await self._uses.all_users():
            if at < now - self._limits.user_after:
                await self._end_user(user)
        return archived

    async def _settle(self, owner: Scope, end: Callable[[Scope], Awaitable[float]]) -> None:
        """Do what `end` does, unless its time is known not to have come; it says until when nothing is due then."""
        if self._clock.now() < self._quiet.get(owner, float("-inf")):
            return
        self._quiet[owner] = await end(owner)
        self._quiet.move_to_end(owner)
        if len(self._quiet) > MOST_KNOWN:
            self._quiet.popitem(last=False)

    async def _session(self, scope: Scope) -> float:
        session = await self._sessions.session(scope)
        quiet = self._clock.now() + self._limits.lifetime + self._limits.archive_after
        if session is not None and session.life.state(self._clock.now(), self._limits) is State.ARCHIVED:
            await self.archive(scope, due=True)
        elif session is not None:
            quiet = session.life.expires_at(self._limits) + self._limits.archive_after
        return min(quiet, await self._tasks(scope))

    async def _tasks(self, scope: Scope) -> float:
        now = self._clock.now()
        quiet = now + self._limits.task_after
        for task, at in (await self._uses.tasks(scope)).items():
            if at < now - self._limits.task_after:
                await self._end_task(task)
            else:
                quiet = min(quiet, at + self._limits.task_after)
        return quiet

    async def _user(self, scope: Scope) -> float:
        now = self._clock.now()
        at = await self._uses.user(scope)
        if at is not None and at < now - self._limits.user_after:
            await self._end_user(scope)
            at = None
        return (now if at is None else at) + self._limits.user_after

    async def _end_task(self, task: Scope) -> None:
        # Objects first: the rows are what a next look finds them by, should a crash come in between.
        await self._artifacts.erase(task, Level.TASK)
        if await self._uses.end_task(task, self._clock.now() - self._limits.task_after):
            await self._caches.changed(task, Level.TASK)
            self._log.write("task_ended", task)

    async def _end_user(self, user: Scope) -> None:
        if await self._uses.end_user(user, self._clock.now() - self._limits.user_after):
            await self._caches.changed(user, Level.USER)
            self._log.write("user_layer_ended", user)
