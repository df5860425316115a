"""Who calls (identity: credentials) and what is addressed (address: ids). They may disagree on purpose."""

from __future__ import annotations

from dataclasses import dataclass

from partywall.canaries import Scope

RawPath = tuple[str | None, str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Identity:
    """The caller whose credentials a probe bears."""

    tenant: str
    user: str
    role: str = "user"
    merchant: str = ""

    @staticmethod
    def of(scope: Scope) -> Identity:
        """The identity that owns `scope`."""
        return Identity(scope.tenant, scope.user)

    def __str__(self) -> str:
        return f"{self.tenant}/{self.user}"


@dataclass(frozen=True, slots=True)
class Address:
    """The raw, unvalidated ids of a probe: empty, None or hostile ids that a scope would refuse."""

    tenant: str | None
    user: str | None
    session: str | None = ""
    task: str | None = ""

    @staticmethod
    def of(scope: Scope) -> Address:
        """The address of a well-formed scope."""
        return Address(*scope.path)

    @property
    def path(self) -> RawPath:
        """The four ids, outermost first."""
        return (self.tenant, self.user, self.session, self.task)

    def __str__(self) -> str:
        return "/".join("None" if part is None else part or "·" for part in self.path)
