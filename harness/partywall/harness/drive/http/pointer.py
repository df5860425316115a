"""JSON Pointer (RFC 6901): where a value stands in an answer."""

from __future__ import annotations

import re
from typing import Any

_INDEX = re.compile(r"0|[1-9][0-9]*")
_ESCAPE = re.compile(r"~(?![01])")


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()
"""What a pointer that resolves nowhere gives; None is a value."""

Pointer = tuple[str, ...]


def parse(text: str) -> Pointer:
    """The tokens of a pointer. Raises ValueError saying what is wrong; `""` is the whole document."""
    if text and not text.startswith("/"):
        raise ValueError(f"the pointer {text!r} must be empty or begin with '/'")
    if _ESCAPE.search(text):
        raise ValueError(f"the pointer {text!r} holds a '~' that is neither '~0' nor '~1'")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:])


def resolve(document: Any, pointer: Pointer) -> Any:
    """What stands at `pointer`, or MISSING. Array indices have no leading zeros; `-` is never there."""
    here = document
    for token in pointer:
        if isinstance(here, dict) and token in here:
            here = here[token]
        elif isinstance(here, list) and len(token) < 10 and _INDEX.fullmatch(token) and int(token) < len(here):
            here = here[int(token)]
        else:
            return MISSING
    return here


def first(document: Any, pointers: tuple[Pointer, ...]) -> Any:
    """What the first pointer that resolves gives, or MISSING."""
    for pointer in pointers:
        found = resolve(document, pointer)
        if found is not MISSING:
            return found
    return MISSING
