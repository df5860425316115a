"""M28: the tenant is taken from the body, whatever the token says."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..identity import Gate, Principal
from ..refusals import Denied
from .seeded import Mutant


class Credulous(Gate):
    """Compares the user, believes the tenant."""

    def admit(self, principal: Principal, scope: Scope) -> None:
        if scope.user != principal.user:
            raise Denied


MUTANT = Mutant(
    id="M28",
    title="client-claimed tenant believed",
    caught_by=frozenset({"PW108"}),
    seen_in="every operation, where the body names another tenant than the token",
    build=lambda parts: replace(parts, gate=Credulous),
)
