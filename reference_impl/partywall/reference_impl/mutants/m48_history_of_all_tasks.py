"""M48: the last turns are taken before they are filtered by task, or never are."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..store.contract import Turn
from ..store.sessions import SqlSessions
from .seeded import Mutant


class LastOfAll(SqlSessions):
    """The session's last turns are every task's history."""

    async def history(self, scope: Scope, last: int, up_to: int | None = None) -> list[Turn]:
        found = await self.turns(scope)
        return [turn for turn in found if turn.text and (up_to is None or turn.turn <= up_to)][-last:]


MUTANT = Mutant(
    id="M48",
    title="history taken before the task filter",
    caught_by=frozenset({"PW104"}),
    seen_in="context and prompt of one task: turns of the session's other one",
    build=lambda parts: replace(parts, sessions=LastOfAll),
)
