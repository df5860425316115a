"""Any text as text that PostgreSQL can hold, and back: it takes no NUL and no lone surrogate."""

from __future__ import annotations

import re

_ESCAPE = "\x1a"
# The escape character itself is escaped too, or two texts would be stored as one.
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_STORED = re.compile("\x1a([0-9a-f]{4})")


def stored(value: object) -> object:
    """A value to bind: texts with what cannot be stored as U+001A and four hex digits; injective."""
    if isinstance(value, str):
        return _UNSTORABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", value)
    return value


def original(value: object) -> object:
    """The value that `stored` was given."""
    if isinstance(value, str) and _ESCAPE in value:
        return _STORED.sub(lambda found: chr(int(found[1], 16)), value)
    return value
