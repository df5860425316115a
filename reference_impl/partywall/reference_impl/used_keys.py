"""Used keys: which keys of locks or rates were used last, for the operator's view of all keys."""

from __future__ import annotations

from .keys import Key

MOST = 1_024


class UsedKeys:
    """The last 1,024 keys used, oldest first; a key used again counts as new."""

    def __init__(self) -> None:
        self._keys: dict[Key, None] = {}

    def use(self, key: Key) -> None:
        """Note that a key is used."""
        self._keys.pop(key, None)
        self._keys[key] = None
        if len(self._keys) > MOST:
            del self._keys[next(iter(self._keys))]

    def forget(self, prefix: str) -> None:
        """Drop the keys that begin so: those of a scope that was erased."""
        self._keys = {key: None for key in self._keys if not key.startswith(prefix)}

    def listed(self) -> list[str]:
        """The keys as text."""
        return [str(key) for key in self._keys]
