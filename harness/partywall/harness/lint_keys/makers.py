"""The makers of keys: scope objects by their usual names, what comes from partywall, and what the user declares."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import UsageError
from .words import every, words

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_OBJECTS = frozenset({"scope", "scopes", "scoped", "keys", "keymaker", "keyring"})
_CLASSES = frozenset({"Scope", "Keys"})
# What any dict or list answers to: `scope` is also the dict of an ASGI request, `keys` often a list.
_OF_CONTAINERS = every(
    "get pop popitem items values keys setdefault update copy clear append extend insert index count sort "
    "remove reverse add discard union startswith endswith format join split"
)


class Makers:
    """Which calls make a key that carries its scope. UsageError where a declared name is no dotted name."""

    def __init__(self, declared: Iterable[str] = ()) -> None:
        self._declared = frozenset(declared)
        for name in sorted(self._declared):
            if not _NAME.fullmatch(name):
                raise UsageError(
                    f"--maker {name!r} is no name of a function or class; expected one like keys_for or app.keys.Keys"
                )

    def declares(self, dotted: str) -> bool:
        """Whether a function or class of this dotted name was declared: `Keys` declares `app.Keys` as well."""
        parts = dotted.split(".")
        return any(".".join(parts[start:]) in self._declared for start in range(len(parts)))

    def makes(self, dotted: str) -> bool:
        """Whether a call of this dotted name, as imported, makes a scope object or a key."""
        parts = dotted.split(".")
        return parts[0] == "partywall" or parts[-1] in _CLASSES or self.declares(dotted)

    def is_scope_object(self, name: str) -> bool:
        """Whether something of this name is a scope object: `scope`, `self._keys`, `request_scope`."""
        parts = words(name)
        return bool(parts) and parts[-1] in _OBJECTS

    def is_of_containers(self, method: str) -> bool:
        """Whether it is a method of dicts, lists and texts, which makes no key."""
        return method in _OF_CONTAINERS
