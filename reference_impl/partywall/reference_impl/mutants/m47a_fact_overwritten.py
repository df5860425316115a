"""M47a: a fact's new value takes the place of the old one."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..facts import Assertion
from ..store.database import OWNER, Connection
from ..store.facts import SqlFacts, assert_into
from .seeded import Mutant


class Overwritten(SqlFacts):
    """Keeps one value of a fact."""

    async def put(self, scope: Scope, claim: Assertion) -> bool:
        owner = self._owner(scope, claim.layer)

        def job(db: Connection) -> bool:
            values = (*owner, claim.layer.value, claim.name)
            known = db.execute(f"DELETE FROM facts WHERE {OWNER} AND layer = ? AND name = ?", values).rowcount
            assert_into(db, owner, claim)
            return known > 0

        return await self._database.write(scope.tenant, job)


MUTANT = Mutant(
    id="M47a",
    title="fact overwritten in place",
    caught_by=frozenset({"PW311"}),
    seen_in="list_facts as of before the change",
    build=lambda parts: replace(parts, facts=Overwritten),
)
