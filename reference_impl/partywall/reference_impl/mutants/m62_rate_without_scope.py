"""M62-rate: the scope is missing from one place, the keys of rate limits."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..keys import Key, Keys
from .seeded import Mutant


class OneAllowance(Keys):
    """One bucket for all tenants, one for all users."""

    def rate(self, scope: Scope) -> tuple[Key, Key]:
        return Key("tenants|prate"), Key("users|prate")


MUTANT = Mutant(
    id="M62-rate",
    title="scope missing from rate keys",
    caught_by=frozenset({"PW801", "PW901"}),
    seen_in="list_sessions of a neighbour during another's rush; stored_keys, place rates",
    build=lambda parts: replace(parts, keys=OneAllowance),
)
