"""M20: who is served stands in a module global, read again after an await."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..agent import Agent
from ..append import Appended, Draft
from ..context import Assembled
from .seeded import Mutant

_current: Scope | None = None


class Ambient(Agent):
    """Facts and memories are fetched for whoever came last."""

    async def listen(self, scope: Scope, draft: Draft) -> Appended:
        global _current
        _current = scope
        return await super().listen(scope, draft)

    async def recall(self, scope: Scope, query: str, up_to: int | None = None) -> Assembled:
        own = await super().recall(scope, query, up_to)
        if up_to is None or _current is None:
            return own
        ambient = await super().recall(_current, query)
        return Assembled(ambient.background, own.history)


MUTANT = Mutant(
    id="M20",
    title="ambient identity",
    caught_by=frozenset({"PW101"}),
    seen_in="prompt of run_turn, where two turns overlap",
    build=lambda parts: replace(parts, agent=Ambient),
)
