"""The session's own canary: minted with the deployment key, kept in the session layer, and told from all others."""

from __future__ import annotations

from collections.abc import Iterable

from partywall.canaries import Keyring, Level, Mint, Scanner, Scope


class Marks:
    """Mints one mark a session; none at all where the deployment has no key."""

    def __init__(self, key: str | None = None, epoch: str = "0") -> None:
        keyring = Keyring.derive(key, epoch) if key else None
        self._mint = Mint(keyring) if keyring else None
        self._scanner = Scanner([keyring], level="S0") if keyring else None

    def mint(self, scope: Scope) -> str | None:
        """The mark of the scope's session, the same whichever task asks."""
        if self._mint is None:
            return None
        scope.require(Level.SESSION)
        return self._mint.token(Scope(scope.tenant, scope.user, scope.session), kind="session")

    def foreign(self, scope: Scope, texts: Iterable[str]) -> int:
        """How many marks of other sessions stand in the texts."""
        if self._scanner is None:
            return 0
        found = (sighting.opened for text in texts for sighting in self._scanner.scan(text).sightings)
        return sum(
            opened.kind == "session" and (crossed := opened.boundary(scope)) is not None and crossed <= Level.SESSION
            for opened in found
        )
