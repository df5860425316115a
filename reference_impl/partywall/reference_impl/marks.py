"""The session's own canary: minted with the deployment key, kept in the session layer."""

from __future__ import annotations

from partywall.canaries import Keyring, Level, Mint, Scope


class Marks:
    """Mints one mark a session; none at all where the deployment has no key."""

    def __init__(self, key: str | None = None, epoch: str = "0") -> None:
        self._mint = Mint(Keyring.derive(key, epoch)) if key else None

    def mint(self, scope: Scope) -> str | None:
        """The mark of the scope's session, the same whichever task asks."""
        if self._mint is None:
            return None
        scope.require(Level.SESSION)
        return self._mint.token(Scope(scope.tenant, scope.user, scope.session), kind="session")
