"""M47b: a value that is said again makes a new version."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..facts import Assertion
from ..store.facts import SqlFacts
from .seeded import Mutant


class AlwaysNew(SqlFacts):
    """Compares texts as they are written, and writes each a little differently."""

    async def put(self, scope: Scope, claim: Assertion) -> bool:
        known = len(await self.chain(scope, claim.layer, claim.name))
        return await super().put(scope, replace(claim, value=claim.value + " " * known))


MUTANT = Mutant(
    id="M47b",
    title="same value makes a new version",
    caught_by=frozenset({"PW312"}),
    seen_in="list_facts with all versions, after a value was said twice",
    build=lambda parts: replace(parts, facts=AlwaysNew),
)
