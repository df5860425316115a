"""M62-lock: the scope is missing from one place, the keys of session locks."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..keys import Key, Keys, encode
from .seeded import Mutant


class BySession(Keys):
    """Everybody's session s1 waits for everybody else's."""

    def lock(self, scope: Scope) -> Key:
        return Key(f"s{encode(scope.session)}|plock")


MUTANT = Mutant(
    id="M62-lock",
    title="scope missing from lock keys",
    caught_by=frozenset({"PW801"}),
    seen_in="stored_keys, place locks",
    build=lambda parts: replace(parts, keys=BySession),
)
