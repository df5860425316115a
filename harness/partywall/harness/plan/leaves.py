"""Leaves: every text in a JSON value, with the place it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a JSON value with its pointer (RFC 6901); keys of objects are texts too."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from leaves(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            name = str(key).replace("~", "~0").replace("/", "~1")
            yield f"{pointer}/{name}", str(key)
            yield from leaves(item, f"{pointer}/{name}")
