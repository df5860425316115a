"""Stream: the texts of server-sent events, each put together from the pieces in which it came."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_FIELD = b"data:"


def assembled(body: bytes) -> bytes:
    """One line a text: pieces that stand at one place in successive events are one text (WHATWG HTML, 9.2).

    The place is the pointer, with the `index` of the choices and blocks around it, so that two answers that stream side
    by side stay apart. Events that are no JSON are one text of their own.
    """
    texts: dict[str, list[str]] = {}
    for line in body.split(b"\n"):
        if not line.startswith(_FIELD):
            continue
        raw = line[len(_FIELD) :].strip().decode("utf-8", "surrogateescape")
        try:
            event = json.loads(raw)
        except (ValueError, RecursionError):
            event = raw
        for place, text in _pieces(event, ""):
            texts.setdefault(place, []).append(text)
    return "\n".join("".join(pieces) for pieces in texts.values()).encode("utf-8", "surrogateescape")


def _pieces(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _pieces(item, f"{place}/{at}")
    elif isinstance(value, dict):
        index = value.get("index")
        if isinstance(index, int):
            place = f"{place}#{index}"
        for name, item in value.items():
            if not isinstance(item, int | float | None):
                yield from _pieces(item, f"{place}/{name}")
