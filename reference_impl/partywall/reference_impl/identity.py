"""Who calls: proved by a signed token, and never believed from what the request says about itself."""

from __future__ import annotations

import time
from dataclasses import dataclass

import jwt
from partywall.canaries import Level, Scope

from .refusals import Denied, Unauthenticated

OPERATOR = "operator"
ADMIN = "admin"
_ALGORITHM = "HS256"
_REQUIRED = ["exp", "tenant", "user", "role"]


@dataclass(frozen=True, slots=True)
class Principal:
    """The identity a token proves."""

    tenant: str
    user: str
    role: str
    merchant: str = ""


class Tokens:
    """Verifies and issues JSON Web Tokens (RFC 7519, HS256) with claims tenant, user, role, merchant, exp."""

    def __init__(self, key: str) -> None:
        self._key = key

    def verify(self, header: str | None) -> Principal:
        """The principal of an `Authorization: Bearer …` header. Raises Unauthenticated, always alike."""
        scheme, _, token = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated
        try:
            claims = jwt.decode(token, self._key, algorithms=[_ALGORITHM], options={"require": _REQUIRED})
        except (jwt.PyJWTError, ValueError):
            raise Unauthenticated from None
        named = [claims["tenant"], claims["user"], claims["role"], claims.get("merchant", "")]
        if not all(isinstance(value, str) for value in named) or not all(named[:3]):
            raise Unauthenticated
        return Principal(*named)

    def issue(self, principal: Principal, lifetime: float = 3600.0) -> str:
        """A token for `principal`, good for `lifetime` seconds."""
        claims = {
            "tenant": principal.tenant,
            "user": principal.user,
            "role": principal.role,
            "merchant": principal.merchant,
            "exp": int(time.time() + lifetime),
        }
        return jwt.encode(claims, self._key, algorithm=_ALGORITHM)


class Gate:
    """Decides whether a principal may address a scope; it looks at nothing stored, so it can tell nothing."""

    def admit(self, principal: Principal, scope: Scope) -> None:
        """Raises Denied unless tenant and user of the scope are the principal's own."""
        if (scope.tenant, scope.user) != (principal.tenant, principal.user):
            raise Denied

    def admit_purge(self, principal: Principal, scope: Scope, level: Level) -> None:
        """A tenant is erased by an operator, or by its own admin; anything below by its owner too."""
        if principal.role == OPERATOR:
            return
        if level is Level.TENANT and (principal.role, principal.tenant) != (ADMIN, scope.tenant):
            raise Denied
        self.admit(principal, scope)

    def admit_operator(self, principal: Principal) -> None:
        """Raises Denied unless the principal is an operator."""
        if principal.role != OPERATOR:
            raise Denied
