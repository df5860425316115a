"""How a session is shortened: early turns condensed into facts of their task, a full one cut, an old one archived."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from partywall.canaries import Level, Scope

from ..clock import Clock
from ..facts import Assertion, canonical
from ..keys import Keys
from ..layers import Layer
from ..lifecycle import Life, Limits, State
from ..marks import Marks
from .contract import Early, Session, Turn
from .database import Connection, Database, Row, below
from .facts import assert_into, chain_of

CUT = "[… cut here]"
SESSION = 'tenant = ? AND "user" = ? AND session = ?'
SUMMARY = "summary"
"""The name of the fact that stands for the turns that were taken away; each new one closes the last."""
CONDENSED = "condensing"
"""What such a fact was made by: it goes with the text of its session, conclusions of the task's own stay."""
_BEGINNING = 200
_LONGEST = 20_000
"""Characters kept of a turn that is cut away without the model, and of any fact that stands for turns."""


class Shortening:
    """What the session table does to make sessions shorter; numbers of turns go on whatever is taken away."""

    def __init__(self, database: Database, keys: Keys, clock: Clock, limits: Limits, marks: Marks) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock
        self._limits = limits
        self._marks = marks

    async def early(self, scope: Scope, keep: int) -> Early | None:
        def job(db: Connection) -> Early | None:
            row = self._row(db, self._owner(scope))
            if row is None or not scope.task or not self.writable(row, self._clock.now()):
                return None
            condition, values = below(self._keys, scope, Level.TASK)
            turns = _open(db, condition, (*values, row["version"] - keep))
            return Early(tuple(turns), row["incarnation"], self._summary(db, scope)[1])

        return await self._database.read(scope.tenant, job)

    async def condense(self, scope: Scope, early: Early, summary: str) -> bool:
        def job(db: Connection) -> bool:
            row = self._held(db, scope, early.incarnation)
            condition, values = below(self._keys, scope, Level.TASK)
            last = early.turns[-1].turn
            # What was read is what is there: had another condensed some of it, its summary would be lost.
            if row is None or _open(db, condition, (*values, last)) != list(early.turns):
                return False
            self._note(db, scope, summary, last)
            db.execute(f"UPDATE turns SET condensed = 1 WHERE {condition} AND turn <= ?", (*values, last))
            self._take_front(db, scope)
            return True

        return await self._database.write(scope.tenant, job)

    async def cut(self, scope: Scope, keep: int) -> int:
        def job(db: Connection) -> int:
            row = self._held(db, scope, None)
            if row is None or row["version"] - row["head"] <= keep:
                return 0
            until = row["version"] - keep
            owner = self._owner(scope)
            lost: dict[str, list[Turn]] = {}
            for turn in _open(db, SESSION, (*owner, until)):
                lost.setdefault(turn.task, []).append(turn)
            for task, turns in lost.items():
                own = replace(scope, task=task)
                before = self._summary(db, own)[1]
                self._note(db, own, _beginnings(turns, before) if task else _count(turns, before), turns[-1].turn)
            db.execute(f"UPDATE turns SET condensed = 1 WHERE {SESSION} AND turn <= ?", (*owner, until))
            self._take_front(db, scope)
            return sum(len(turns) for turns in lost.values())

        return await self._database.write(scope.tenant, job)

    async def archive(self, scope: Scope, due: bool = False) -> bool:
        owner = self._owner(scope)

        def job(db: Connection) -> bool:
            row = self._held(db, scope, None)
            if row is None:
                return False
            now = self._clock.now()
            if due and self._life(row).state(now, self._limits) is not State.ARCHIVED:
                return False
            told = row["summary"] or self._told(db, owner, row)
            # Every time, not only the first: a write that was under way then has left something since.
            db.execute(f"DELETE FROM turns WHERE {SESSION}", owner)
            ending = f"{SESSION} AND (layer = 'session' OR made_by = ?)"
            db.execute(f"DELETE FROM facts WHERE {ending}", (*owner, CONDENSED))
            change = "archived_at = COALESCE(archived_at, ?), summary = ?, head = version, mark = NULL"
            db.execute(f"UPDATE sessions SET {change} WHERE {SESSION}", (now, told, *owner))
            return row["summary"] is None

        return await self._database.write(scope.tenant, job)

    def writable(self, row: Row, now: float) -> bool:
        """Whether the session of a row takes a write at `now`."""
        return self._life(row).writable(now, self._limits)

    def _life(self, row: Row) -> Life:
        return Life(row["created_at"], row["last_active"], row["archived_at"])

    def _session(self, row: Row) -> Session:
        scope = Scope(row["tenant"], row["user"], row["session"])
        told = (row["version"], row["head"], row["mark"], row["incarnation"], row["summary"])
        return Session(scope, self._life(row), *told)

    def _row(self, db: Connection, owner: tuple[str, ...]) -> Row | None:
        return db.execute(f"SELECT * FROM sessions WHERE {SESSION}", owner).fetchone()

    def _owner(self, scope: Scope) -> tuple[str, ...]:
        return self._keys.row(scope.require(Level.SESSION), Level.SESSION)[:3]

    def _held(self, db: Connection, scope: Scope, incarnation: str | None) -> Row | None:
        """The session's row, which nobody else changes before this transaction ends; None in another life of it."""
        owner = self._owner(scope)
        db.execute(f"UPDATE sessions SET head = head WHERE {SESSION}", owner)
        row = self._row(db, owner)
        return None if row is None or incarnation not in (None, row["incarnation"]) else row

    def _note(self, db: Connection, scope: Scope, text: str, turn: int) -> None:
        layer = _layer(scope)
        name, _ = self._summary(db, scope)
        claim = Assertion(name, canonical(text), layer, self._clock.now(), turn, made_by=CONDENSED)
        assert_into(db, self._keys.row(layer.owner(scope), layer.level), claim)

    def _summary(self, db: Connection, scope: Scope) -> tuple[str, str]:
        """The name of the fact that stands for what was taken away, and its text so far: never the caller's fact."""
        layer = _layer(scope)
        for name in (SUMMARY, f"{SUMMARY} of turns"):
            chain = chain_of(db, self._keys.row(layer.owner(scope), layer.level), layer, name)
            if not chain:
                return name, ""
            if chain[-1].claim.made_by == CONDENSED:
                break
        return name, str(json.loads(chain[-1].value))

    def _take_front(self, db: Connection, scope: Scope) -> None:
        """Take away the turns before the first that still stands for itself."""
        owner = self._owner(scope)
        waiting = f"SELECT MIN(turn) AS turn FROM turns WHERE {SESSION} AND condensed = 0 AND erased = 0"
        gone = f"SELECT MAX(turn) AS turn FROM turns WHERE {SESSION} AND condensed = 1"
        first, last = (db.execute(query, owner).fetchone() for query in (waiting, gone))
        assert first is not None
        assert last is not None
        if last["turn"] is None:
            return
        head = last["turn"] if first["turn"] is None else min(first["turn"] - 1, last["turn"])
        db.execute(f"DELETE FROM turns WHERE {SESSION} AND turn <= ?", (*owner, head))
        db.execute(f"UPDATE sessions SET head = ? WHERE {SESSION} AND head < ?", (head, *owner, head))

    def _told(self, db: Connection, owner: tuple[str, ...], session: Row) -> str:
        """What is told of an archived session: how much was said when, in which tasks, what was concluded, by name.

        No word that was said: the turns of a task are those that were still there to be counted.
        """
        tasks: dict[str, dict[str, object]] = {}
        counted = "COUNT(*) AS turns, MIN(at) AS first_at, MAX(at) AS last_at"
        there = f"{SESSION} AND erased = 0 GROUP BY task ORDER BY task"
        for row in db.execute(f"SELECT task, {counted} FROM turns WHERE {there}", owner).fetchall():
            tasks[row["task"]] = {name: row[name] for name in ("turns", "first_at", "last_at")}
        named = f"{SESSION} AND layer = 'task' AND made_by <> ? ORDER BY task, name"
        for row in db.execute(f"SELECT DISTINCT task, name FROM facts WHERE {named}", (*owner, CONDENSED)).fetchall():
            known = tasks.setdefault(row["task"], {"turns": 0})
            known["conclusions"] = [*known.get("conclusions", []), row["name"]]  # type: ignore[misc]
        told = {"turns": session["version"], "first_at": session["created_at"], "last_at": session["last_active"]}
        return json.dumps({**told, "tasks": tasks})


def bounded(text: str) -> str:
    """The text as a fact may hold it; where it was longer it says so."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - len(CUT)] + CUT


def _open(db: Connection, condition: str, values: Sequence[object]) -> list[Turn]:
    """The turns up to a number, given last, that nothing stands for yet."""
    wanted = f"{condition} AND turn <= ? AND condensed = 0 AND erased = 0 ORDER BY turn"
    rows = db.execute(f"SELECT turn, role, text, task FROM turns WHERE {wanted}", values)
    return [Turn(row["turn"], row["role"], row["text"], row["task"]) for row in rows]


def _layer(scope: Scope) -> Layer:
    """Where the summary of a task lies. What was said outside of any task has a note in the session layer, which all
    its tasks see: it tells a number and no word of it."""
    return Layer.TASK if scope.task else Layer.SESSION


def _beginnings(turns: Sequence[Turn], before: str) -> str:
    begun = [f"{turn.role}: {turn.text[:_BEGINNING]}" for turn in turns]
    told = (
        f"turns {turns[0].turn}-{turns[-1].turn}, {len(turns)} of this task, cut without being condensed; they began:"
    )
    # What was there before gives way first: of what is cut now nothing else is left.
    return bounded("\n".join(part for part in (before[: _LONGEST // 2], told, *begun) if part))


def _count(turns: Sequence[Turn], before: str) -> str:
    told = f"turns {turns[0].turn}-{turns[-1].turn}: {len(turns)} outside of any task were dropped unread"
    return bounded("\n".join(part for part in (before[-_LONGEST // 2 :], told) if part))
