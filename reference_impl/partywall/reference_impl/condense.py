"""Condensing: early turns of a long session become a fact of their task, told by the model, never under a lock."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from partywall.canaries import Level, Scope

from .append import Appended
from .clock import Clock
from .layers import Layer
from .lifecycle import Limits
from .llm import ChatModel, ModelFailure
from .log import Log
from .metrics import Metrics
from .session_context import SessionContext
from .store import SessionTable
from .store.contract import Early, Turn
from .store.shortening import bounded

KEEP = 60
"""The last turns of a session, which are never condensed: what is being talked about stays in its own words."""
MOST_ASKED = 200_000
"""Characters of turns that one prompt holds; what is left waits for the next."""
_COOLING = 60.0
_PATIENCE = 30.0
"""Seconds: how long a model that failed is left alone, and how long a full session waits for one that is at it."""
_INSTRUCTION = "Sum up what was said and concluded here, so that the conversation can go on without it."


class Condenser:
    """Keeps sessions below their limit: by the model from `condense_at` turns on, by cutting where that is no help."""

    def __init__(
        self, sessions: SessionTable, model: ChatModel, clock: Clock, limits: Limits, metrics: Metrics, log: Log
    ) -> None:
        self._sessions = sessions
        self._model = model
        self._clock = clock
        self._limits = limits
        self._keep = min(KEEP, limits.condense_at // 2)
        self._metrics = metrics
        self._log = log
        self._at_work: dict[Scope, asyncio.Event] = {}
        self._failed: dict[Scope, float] = {}

    async def after(self, scope: Scope, appended: Appended) -> bool:
        """Condense the early turns of the scope's task where the session has become long; whether it was done.

        One at a time for a task. Where the model failed it is left alone for a minute: a session that is full
        meanwhile is cut.
        """
        if appended.stored < self._limits.condense_at or scope in self._at_work or self._cooling(scope):
            return False
        done = self._at_work[scope] = asyncio.Event()
        try:
            return await self._condense(scope)
        finally:
            done.set()
            del self._at_work[scope]

    async def make_room(self, scope: Scope) -> None:
        """Let a full session have room: what is being condensed in it is waited for, else it is cut back, for a note
        in each task's facts of what went."""
        session = scope.path[: Level.SESSION]
        working = [done.wait() for other, done in self._at_work.items() if other.path[: Level.SESSION] == session]
        if working:
            await asyncio.wait([asyncio.ensure_future(each) for each in working], timeout=_PATIENCE)
        full = await self._sessions.session(scope)
        if full is None or full.stored < self._limits.max_turns:
            return
        went = await self._sessions.cut(scope, self._limits.max_turns - self._keep)
        if went:
            self._metrics.layer_write(Layer.TASK)
            self._metrics.taken_away("dropped", went)
            self._log.write("session_cut", scope, turns=went)

    async def _condense(self, scope: Scope) -> bool:
        early = await self._sessions.early(scope, self._keep)
        # A few at a time would ask the model with every turn where another task's turns keep the front.
        if early is None or len(early.turns) < max(1, self._keep // 3):
            return False
        early = replace(early, turns=_asked(early.turns))
        try:
            summary = await self.summary(early)
        except ModelFailure as failure:
            self._failed[scope] = self._clock.now()
            self._log.write("model_failed", scope, kind=failure.kind, reason=str(failure))
            return False
        done = await self._sessions.condense(scope, early, bounded(summary))
        if done:
            self._metrics.layer_write(Layer.TASK)
            self._metrics.taken_away("condensed", len(early.turns))
            self._log.write("session_condensed", scope, turns=len(early.turns))
        return done

    async def summary(self, early: Early) -> str:
        """What the model makes of the turns, and of the summary that there was. Raises ModelFailure."""
        said = "\n".join(f"{turn.role}: {turn.text}" for turn in early.turns)
        asked = "\n".join(part for part in (early.before, said) if part)
        context = [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": asked}]
        return await self._model.chat(SessionContext(context))

    def _cooling(self, scope: Scope) -> bool:
        since = self._clock.now() - _COOLING
        self._failed = {each: at for each, at in self._failed.items() if at > since}
        return scope in self._failed


def _asked(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The first turns that fit into one prompt, at least one."""
    length = 0
    fitting: list[Turn] = []
    for turn in turns:
        length += len(turn.text)
        if fitting and length > MOST_ASKED:
            break
        fitting.append(turn)
    return tuple(fitting)
