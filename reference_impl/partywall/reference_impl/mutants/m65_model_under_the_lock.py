"""M65: the session's lock is held while the model is asked."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import replace

from partywall.canaries import Scope

from ..agent import Agent, Request, TurnResult
from ..append import Appended, Draft
from .seeded import Mutant

_locks: dict[tuple[str, ...], asyncio.Lock] = defaultdict(asyncio.Lock)


class LockHeld(Agent):
    """A turn is one critical section from its first write to its last; a bare append waits for it to end."""

    async def run_turn(self, scope: Scope, text: str, request: Request) -> TurnResult:
        async with _locks[scope.path[:3]]:
            return await super().run_turn(scope, text, request)

    async def append(self, scope: Scope, draft: Draft) -> Appended:
        if draft.operation == "run_turn":
            return await super().append(scope, draft)
        async with _locks[scope.path[:3]]:
            return await super().append(scope, draft)


MUTANT = Mutant(
    id="M65",
    title="model call under the session lock",
    caught_by=frozenset({"PW224"}),
    seen_in="append_turn to a session whose turn waits for a silent model",
    build=lambda parts: replace(parts, agent=LockHeld),
)
