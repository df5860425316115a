"""M01: one store for all: the tenant is dropped before any row is written or read."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..keys import Keys, Row
from .seeded import Mutant


class OneForAll(Keys):
    """Rows of every tenant stand under the same empty one."""

    def row(self, scope: Scope, level: Level) -> Row:
        _, user, session, task = super().row(scope, level)
        return "everybody", user, session, task


MUTANT = Mutant(
    id="M01",
    title="one store for all",
    caught_by=frozenset({"PW101"}),
    seen_in="turns, context, prompt, memories, facts, artifacts of two tenants with equal lower ids",
    build=lambda parts: replace(parts, keys=OneForAll),
)
