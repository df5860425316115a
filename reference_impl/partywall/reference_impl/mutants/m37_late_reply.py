"""M37-late: a reply that was being made during a purge is written after it."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..agent import Agent, Request
from ..append import Appended, Draft
from .seeded import Mutant


class LateReply(Agent):
    """Does not ask whether what it answers still stands."""

    async def reply(self, scope: Scope, text: str, request: Request, heard: Appended) -> Appended:
        draft = Draft(
            text,
            "assistant",
            "run_turn",
            part="assistant",
            caller=request.caller,
            request_id=request.request_id,
        )
        return await self.append(scope, draft)


MUTANT = Mutant(
    id="M37-late",
    title="late write resurrects what was purged",
    caught_by=frozenset({"PW401", "PW403"}),
    seen_in="stored_bytes, place main, where a turn of the agent was in flight during the purge",
    build=lambda parts: replace(parts, agent=LateReply),
)
