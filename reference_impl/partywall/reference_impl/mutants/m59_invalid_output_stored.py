"""M59: what a tool call holds is stored though it cannot be read, and the failure passes for "nothing to note"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from partywall.canaries import Scope

from ..llm import ModelOutputInvalid, Offer, ToolCall
from ..tools import Body, Done, Remember, Tools
from .seeded import Mutant


class Storing(Tools):
    """Whatever the model said becomes a fact."""

    def read(self, names: set[str], call: ToolCall) -> Body:
        try:
            return super().read(names, call)
        except ModelOutputInvalid:
            return Remember(name="note", value=call.arguments or "-")

    async def run(self, scope: Scope, offered: Sequence[Offer], calls: Sequence[ToolCall], turn: int) -> Done:
        done = await super().run(scope, offered, calls, turn)
        return replace(done, text="There was nothing to note.")


MUTANT = Mutant(
    id="M59",
    title="invalid model output stored as a fact",
    caught_by=frozenset({"PW701", "PW706"}),
    seen_in="list_facts and the reply of a turn whose tool arguments were cut: --fault invalid-json",
    build=lambda parts: replace(parts, tools=Storing),
)
