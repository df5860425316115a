"""When a task's layer and a user's were last used, and the end of those that were not for long."""

from __future__ import annotations

from collections.abc import Sequence

from partywall.canaries import Level, Scope

from ..keys import Keys
from .database import OWNER, Connection, Database

_USER = 'tenant = ? AND "user" = ?'
_SESSION = f"{_USER} AND session = ?"
# `held` marks what lives in the layer itself; the rest only shows that it was used.
_TASKS = (
    'SELECT tenant, "user", session, task, MAX(at) AS at FROM ('
    "SELECT tenant, \"user\", session, task, recorded_at AS at, 1 AS held FROM facts WHERE layer = 'task'{and_}"
    ' UNION ALL SELECT tenant, "user", session, task, facts_at AS at, 1 AS held FROM artifacts{where}'
    ' UNION ALL SELECT tenant, "user", session, task, at, 0 AS held FROM turns{where}'
    ') AS uses GROUP BY tenant, "user", session, task HAVING MAX(held) = 1'
)
_USERS = (
    'SELECT tenant, "user", MAX(at) AS at FROM ('
    "SELECT tenant, \"user\", recorded_at AS at, 1 AS held FROM facts WHERE layer = 'user'{and_}"
    ' UNION ALL SELECT tenant, "user", at, 1 AS held FROM memories{where}'
    ' UNION ALL SELECT tenant, "user", last_active AS at, 0 AS held FROM sessions{where}'
    ') AS uses GROUP BY tenant, "user" HAVING MAX(held) = 1'
)


class LastUse:
    """Asks all tables of an owner at once: a fact, an artifact, a memory or a turn is a use of its layer."""

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys

    async def tasks(self, scope: Scope) -> dict[Scope, float]:
        """The tasks of a session that hold anything, with the instant of their last use (Unix seconds)."""
        owner = self._keys.row(scope, Level.SESSION)[:3]
        return dict(await self._database.read(scope.tenant, lambda db: _tasks(db, _SESSION, owner)))

    async def user(self, scope: Scope) -> float | None:
        """The last use of a user's layer; None where it holds nothing."""
        owner = self._keys.row(scope, Level.USER)[:2]
        found = await self._database.read(scope.tenant, lambda db: _users(db, _USER, owner))
        return found[0][1] if found else None

    async def all_tasks(self) -> list[tuple[Scope, float]]:
        """Every task that holds anything, with its last use: an operator's view."""
        return await self._database.everywhere(_tasks)

    async def all_users(self) -> list[tuple[Scope, float]]:
        """Every user whose layer holds anything, with its last use: an operator's view."""
        return await self._database.everywhere(_users)

    async def end_task(self, scope: Scope, before: float) -> bool:
        """Take away what a task holds, if it was last used before that instant; whether it was."""
        owner = self._keys.row(scope, Level.TASK)

        def job(db: Connection) -> bool:
            if any(at >= before for _, at in _tasks(db, OWNER, owner)):
                return False
            # By their time too: of two transactions side by side one may have seen nothing of the other.
            db.execute(f"DELETE FROM artifacts WHERE {OWNER} AND facts_at < ?", (*owner, before))
            db.execute(f"DELETE FROM facts WHERE {OWNER} AND layer = 'task' AND recorded_at < ?", (*owner, before))
            return True

        return await self._database.write(scope.tenant, job)

    async def end_user(self, scope: Scope, before: float) -> bool:
        """Take away what a user's layer holds, if it was last used before that instant; whether it was."""
        owner = self._keys.row(scope, Level.USER)[:2]

        def job(db: Connection) -> bool:
            if any(at >= before for _, at in _users(db, _USER, owner)):
                return False
            db.execute(f"DELETE FROM facts WHERE {_USER} AND layer = 'user' AND recorded_at < ?", (*owner, before))
            db.execute(f"DELETE FROM memories WHERE {_USER} AND at < ?", (*owner, before))
            self._database.fulltext.sweep(db)
            return True

        return await self._database.write(scope.tenant, job)


def _tasks(db: Connection, condition: str = "", values: Sequence[str] = ()) -> list[tuple[Scope, float]]:
    rows = db.execute(_limited(_TASKS, condition), tuple(values) * 3)
    return [(Scope(row["tenant"], row["user"], row["session"], row["task"]), row["at"]) for row in rows]


def _users(db: Connection, condition: str = "", values: Sequence[str] = ()) -> list[tuple[Scope, float]]:
    rows = db.execute(_limited(_USERS, condition), tuple(values) * 3)
    return [(Scope(row["tenant"], row["user"]), row["at"]) for row in rows]


def _limited(statement: str, condition: str) -> str:
    given = bool(condition)
    return statement.format(and_=f" AND {condition}" * given, where=f" WHERE {condition}" * given)
