"""M06: memories are matched by a prefix of their owner's path, so `acme/u1` reaches `acme/u10`."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..store.memories import SqlMemories
from .seeded import Mutant


class PrefixMatch(SqlMemories):
    """Starts-with, and no separator behind the last id."""

    def owned(self, scope: Scope) -> tuple[str, tuple[str, ...]]:
        path = f"{scope.tenant}/{scope.user}"
        return "substr(tenant || '/' || \"user\", 1, length(?)) = ?", (path, path)


MUTANT = Mutant(
    id="M06",
    title="prefix match",
    caught_by=frozenset({"PW102"}),
    seen_in="list_memories, get_memory, context and prompt of user u1 where the tenant has a u10",
    build=lambda parts: replace(parts, memories=PrefixMatch),
)
