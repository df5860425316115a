"""M37-log: the purge does not visit the log."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Level, Scope

from ..purge import Purge
from .seeded import Mutant


class LogKept(Purge):
    """Confirms the log unseen."""

    async def erase(self, place: str, scope: Scope, level: Level) -> int:
        return 0 if place == "log" else await super().erase(place, scope, level)


MUTANT = Mutant(
    id="M37-log",
    title="purge misses the log",
    caught_by=frozenset({"PW401"}),
    seen_in="stored_bytes, place log: lines that name the purged tenant",
    build=lambda parts: replace(parts, purge=LogKept),
)
