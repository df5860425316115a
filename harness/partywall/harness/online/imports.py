"""Imports: which foreign canaries an identity has itself put in, remembered from record to record."""

from __future__ import annotations

from collections.abc import Iterable

from ..plan.identity import RawPath
from .hashing import Hashes

MOST = 4096


class Imports:
    """Keyed hashes of (canary, tenant, user), the oldest forgotten first.

    Who pastes another's genuine canary into its own input has leaked nothing, and nor has the reply that quotes it,
    today or from memory next week. What was forgotten is reported when it shows again: the error is on the loud side.
    """

    def __init__(self, hashes: Hashes, known: Iterable[str] = (), most: int = MOST) -> None:
        self._hashes = hashes
        self._most = most
        self._known: dict[str, None] = dict.fromkeys(known)

    def add(self, token: str, viewer: RawPath) -> None:
        """`viewer`'s identity has put `token` in."""
        name = self._named(token, viewer)
        self._known.pop(name, None)
        self._known[name] = None
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]

    def holds(self, token: str, viewer: RawPath) -> bool:
        """Whether `viewer`'s identity once put `token` in."""
        return self._named(token, viewer) in self._known

    def record(self) -> list[str]:
        """What to hand to the next process, oldest first."""
        return list(self._known)

    def _named(self, token: str, viewer: RawPath) -> str:
        return self._hashes.name("import", token, viewer[0], viewer[1])
