"""Sessions, turns and answered requests."""

from __future__ import annotations

from uuid import uuid4

from partywall.canaries import Level, Scope

from ..append import Appended, Draft
from ..lifecycle import State
from ..refusals import ConcurrencyError, Conflict, Expired, Overtaken, SessionFull
from .contract import PlaceReport, Reply, Session, Turn
from .database import Connection, Row, Table, below, merged, report
from .shortening import SESSION, Shortening

_SCOPE = 'tenant TEXT NOT NULL, "user" TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL'
TABLES = (
    Table(
        "sessions",
        f"{_SCOPE} DEFAULT '', incarnation TEXT NOT NULL, created_at DOUBLE PRECISION NOT NULL,"
        " last_active DOUBLE PRECISION NOT NULL, version BIGINT NOT NULL DEFAULT 0, mark TEXT,"
        " head BIGINT NOT NULL DEFAULT 0, archived_at DOUBLE PRECISION, summary TEXT,"
        " fence BIGINT NOT NULL DEFAULT 0",
        ("tenant", "user", "session"),
    ),
    Table(
        "turns",
        f"{_SCOPE}, turn BIGINT NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,"
        " erased BIGINT NOT NULL DEFAULT 0, condensed BIGINT NOT NULL DEFAULT 0",
        ("tenant", "user", "session", "turn"),
        (("tenant", "user", "session", "task", "turn"),),
    ),
    Table(
        "requests",
        f"{_SCOPE}, caller TEXT NOT NULL, request_id TEXT NOT NULL, part TEXT NOT NULL, digest TEXT NOT NULL,"
        " turn BIGINT NOT NULL",
        ("tenant", "user", "session", "caller", "request_id", "part"),
    ),
)


class SqlSessions(Shortening):
    """The session table of shared tables: every statement is filtered by tenant, user and session."""

    async def create(self, scope: Scope) -> bool:
        def job(db: Connection) -> bool:
            return self._create(db, scope) is not None

        return await self._database.write(scope.tenant, job)

    async def version(self, scope: Scope) -> int | None:
        found = await self.session(scope)
        return found.version if found else None

    async def session(self, scope: Scope) -> Session | None:
        owner = self._owner(scope)

        def job(db: Connection) -> Session | None:
            row = self._row(db, owner)
            return self._session(row) if row else None

        return await self._database.read(scope.tenant, job)

    async def sessions(self, scope: Scope) -> list[Session]:
        condition, owner = below(self._keys, scope, Level.USER)

        def job(db: Connection) -> list[Session]:
            order = "ORDER BY created_at, session"
            return [
                self._session(row) for row in db.execute(f"SELECT * FROM sessions WHERE {condition} {order}", owner)
            ]

        return await self._database.read(scope.tenant, job)

    async def everywhere(self) -> list[Session]:
        def job(db: Connection) -> list[Session]:
            return [self._session(row) for row in db.execute("SELECT * FROM sessions")]

        return await self._database.everywhere(job)

    async def append(self, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        return await self._database.write(scope.tenant, lambda db: self._append(db, scope, draft, seen))

    async def turns(self, scope: Scope, limit: int | None = None) -> list[Turn]:
        return await self._last_turns(scope, SESSION, self._owner(scope), limit)

    async def history(self, scope: Scope, last: int, up_to: int | None = None) -> list[Turn]:
        condition, owner = below(self._keys, scope, Level.TASK)
        condition += " AND erased = 0 AND turn <= ?"
        return await self._last_turns(scope, condition, (*owner, up_to if up_to is not None else 2**60), last)

    async def reply_to(self, scope: Scope, caller: str, request_id: str) -> Reply | None:
        owner = self._owner(scope)
        request = f"{SESSION} AND caller = ? AND request_id = ? AND part = 'assistant'"

        def job(db: Connection) -> Reply | None:
            given = db.execute(f"SELECT turn FROM requests WHERE {request}", (*owner, caller, request_id)).fetchone()
            if given is None:
                return None
            there = f"SELECT text FROM turns WHERE {SESSION} AND turn = ? AND erased = 0"
            turn = None if self._archived(db, owner) else db.execute(there, (*owner, given["turn"])).fetchone()
            return Reply(given["turn"], turn["text"] if turn else None)

        return await self._database.read(scope.tenant, job)

    async def erase(self, scope: Scope, level: Level) -> int:
        def job(db: Connection) -> int:
            condition, owner = below(self._keys, scope, level)
            if level is Level.TASK:
                # The session goes on: its numbers stay, the text and the task's name go; the request ids
                # stay, or a late retry would write the erased text again.
                db.execute(f"UPDATE requests SET task = '' WHERE {condition}", owner)
                blank = "UPDATE turns SET text = '', task = '', erased = 1"
                return db.execute(f"{blank} WHERE {condition} AND erased = 0", owner).rowcount
            tables = ("requests", "turns", "sessions")
            return sum(db.execute(f"DELETE FROM {table} WHERE {condition}", owner).rowcount for table in tables)

        return await self._database.write(scope.tenant, job)

    async def at_rest(self) -> PlaceReport:
        def job(db: Connection) -> list[PlaceReport]:
            tables = ("sessions", "turns", "requests")
            return [report(db.execute(f"SELECT * FROM {table}"), self._keys, table) for table in tables]

        return merged(await self._database.everywhere(job))

    def _append(self, db: Connection, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        owner = self._owner(scope)
        now = self._clock.now()
        row = self._row(db, owner)
        # First of all the request id: a retry must get its first answer even where it would be refused now.
        if row is not None and (earlier := self._earlier(db, scope, draft, row)) is not None:
            return earlier
        if draft.answers is not None and not self._stands(db, scope, draft.answers, row):
            raise Conflict("what this answers was deleted while the answer was made; nothing was written")
        fence = max(draft.fence, row["fence"] if row else 0)
        if 0 < draft.fence < fence:
            raise Overtaken(fence)
        actual = row["version"] if row else None
        if actual != seen:
            raise ConcurrencyError(seen, actual)
        if row is None and (row := self._create(db, scope)) is None:
            raise ConcurrencyError(seen, 0)
        if not self.writable(row, now):
            raise Expired(self._keys.log(scope))
        if row["version"] - row["head"] >= self._limits.max_turns:
            raise SessionFull
        turn = row["version"] + 1
        # Where writers run side by side, this is what only one of those that read the same version can do.
        changed = db.execute(
            f"UPDATE sessions SET version = ?, last_active = ?, fence = ? WHERE {SESSION} AND version = ?",
            (turn, now, fence, *owner, row["version"]),
        )
        if not changed.rowcount:
            raise ConcurrencyError(seen, None)
        db.execute(
            'INSERT INTO turns (tenant, "user", session, task, turn, role, text, at) VALUES (?,?,?,?,?,?,?,?)',
            (*self._keys.row(scope, Level.TASK), turn, draft.role, draft.text, now),
        )
        if draft.request_id is not None:
            db.execute(
                'INSERT INTO requests (tenant, "user", session, task, caller, request_id, part, digest, turn)'
                " VALUES (?,?,?,?,?,?,?,?,?)",
                (
                    *self._keys.row(scope, Level.TASK),
                    *(draft.caller, draft.request_id, draft.part, draft.digest(scope), turn),
                ),
            )
        return Appended(turn, turn, row["incarnation"], draft.text, stored=turn - row["head"])

    def _earlier(self, db: Connection, scope: Scope, draft: Draft, session: Row) -> Appended | None:
        if draft.request_id is None:
            return None
        condition = f"{SESSION} AND caller = ? AND request_id = ? AND part = ?"
        values = (*self._owner(scope), draft.caller, draft.request_id, draft.part)
        row = db.execute(f"SELECT digest, turn FROM requests WHERE {condition}", values).fetchone()
        if row is None:
            return None
        # An assistant's text may differ from try to try: the first one stored is the answer.
        if draft.part == "user" and row["digest"] != draft.digest(scope):
            raise Conflict("this request id was used for another request")
        stored = db.execute(
            f"SELECT text FROM turns WHERE {SESSION} AND turn = ?", (*self._owner(scope), row["turn"])
        ).fetchone()
        text = stored["text"] if stored else ""
        return Appended(row["turn"], row["turn"], session["incarnation"], text, repeated=True)

    def _stands(self, db: Connection, scope: Scope, question: Appended, session: Row | None) -> bool:
        if session is None or session["incarnation"] != question.incarnation:
            return False
        standing = f"SELECT 1 FROM turns WHERE {SESSION} AND turn = ? AND erased = 0"
        return db.execute(standing, (*self._owner(scope), question.turn)).fetchone() is not None

    def _create(self, db: Connection, scope: Scope) -> Row | None:
        owner = self._owner(scope)
        now = self._clock.now()
        made = db.execute(
            'INSERT INTO sessions (tenant, "user", session, incarnation, created_at, last_active, mark)'
            " VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
            (*owner, uuid4().hex, now, now, self._marks.mint(scope)),
        )
        if not made.rowcount:
            return None
        return db.execute(f"SELECT * FROM sessions WHERE {SESSION}", owner).fetchone()

    def _archived(self, db: Connection, owner: tuple[str, ...]) -> bool:
        """Whether the session's text is none of anybody's: archived, whether or not it was swept yet, or not there."""
        row = self._row(db, owner)
        return row is None or self._life(row).state(self._clock.now(), self._limits) is State.ARCHIVED

    async def _last_turns(
        self, scope: Scope, condition: str, values: tuple[object, ...], limit: int | None
    ) -> list[Turn]:
        """The last turns that meet the condition; of an archived session none."""

        def job(db: Connection) -> list[Turn]:
            if self._archived(db, self._owner(scope)):
                return []
            wanted = f"SELECT turn, role, text, task FROM turns WHERE {condition} ORDER BY turn DESC"
            last = ("", ()) if limit is None else (" LIMIT ?", (limit,))
            rows = db.execute(wanted + last[0], (*values, *last[1])).fetchall()
            return [Turn(each["turn"], each["role"], each["text"], each["task"]) for each in reversed(rows)]

        return await self._database.read(scope.tenant, job)
