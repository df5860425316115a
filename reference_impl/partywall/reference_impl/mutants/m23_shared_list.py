"""M23: a mutable default: every context is collected in the same list."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..context import Assembler
from .seeded import Mutant


class SharedList(Assembler):
    """What one request found is still there for the next."""

    async def background(self, scope: Scope, query: str, found: list[str] = []) -> list[str]:  # noqa: B006
        found += [snippet for snippet in await super().background(scope, query) if snippet not in found]
        return found


MUTANT = Mutant(
    id="M23",
    title="aliasing, mutable default",
    caught_by=frozenset({"PW101"}),
    seen_in="context, prompt and cached_answer, from the second scope on",
    build=lambda parts: replace(parts, assembler=SharedList),
)
