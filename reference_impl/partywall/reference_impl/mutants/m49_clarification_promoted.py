"""M49: what was cleared up for one job is kept for the user."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..facts import Assertion
from ..layers import Layer
from ..store.facts import SqlFacts
from .seeded import Mutant


class Promoted(SqlFacts):
    """A task's rule is taken for the user's preference."""

    async def put(self, scope: Scope, claim: Assertion) -> bool:
        layer = Layer.USER if claim.layer is Layer.TASK else claim.layer
        return await super().put(scope, replace(claim, layer=layer))


MUTANT = Mutant(
    id="M49",
    title="clarification promoted to the user layer",
    caught_by=frozenset({"PW103", "PW104", "PW321"}),
    seen_in="list_facts and context of the user's other tasks and sessions",
    build=lambda parts: replace(parts, facts=Promoted),
)
