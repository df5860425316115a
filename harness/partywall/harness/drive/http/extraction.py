"""Extraction: from an answer to the contract's value, by JSON pointers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...plan.operation import Shape
from .pointer import MISSING, Pointer, first, resolve

Pointers = tuple[Pointer, ...]

_LISTS = frozenset({Shape.TURNS, Shape.TEXTS, Shape.NAMES, Shape.RECORDS, Shape.SNIPPETS, Shape.LINES})


class Unreadable(Exception):
    """An answer that counts as ok and does not hold what the profile expects there."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """Where a value stands. `members` are relative to the item, or to the document where there is no `items`."""

    format: Literal["json", "text"] = "json"
    value: Pointers | None = None
    items: Pointers | None = None
    members: Mapping[str, Pointers] = field(default_factory=dict)
    where: tuple[tuple[Pointer, Any], ...] = ()
    descending: bool = False
    lenient: bool = False

    @property
    def needs_json(self) -> bool:
        """Whether an answer that is no JSON cannot be read."""
        return self.format == "json" and bool(self.value or self.items or self.members)


@dataclass(frozen=True, slots=True)
class OkWhen:
    """What an answer must show to count as ok."""

    equals: tuple[tuple[Pointer, Any], ...] = ()
    present: Pointers = ()
    absent: Pointers = ()

    def broken(self, document: Any) -> str:
        """Why `document` does not count as ok; empty where it does."""
        for pointer, value in self.equals:
            found = resolve(document, pointer)
            if found is MISSING or not _same(found, value):
                return f"{shown(pointer)} is not {value!r}"
        for pointer in self.present:
            if resolve(document, pointer) is MISSING:
                return f"nothing at {shown(pointer)}"
        for pointer in self.absent:
            if resolve(document, pointer) is not MISSING:
                return f"something at {shown(pointer)}"
        return ""


def extract(extraction: Extraction, document: Any, shape: Shape, acknowledges: bool) -> Any:
    """The value in `document`, which is the whole text where the format is text.

    Raises Unreadable where it is not there; an operation that only acknowledges has no value then.
    """
    if extraction.format == "text":
        return document
    if extraction.value is not None:
        found = _found(first(document, extraction.value), extraction.value, extraction.lenient or acknowledges)
        return [] if found is None and extraction.lenient and shape in _LISTS else found
    if extraction.items is not None:
        return _items(extraction, document, shape)
    if not extraction.members:
        return None
    record = _record(extraction.members, document)
    if record is MISSING:
        return _found(MISSING, extraction.members.get("text", ()), extraction.lenient or acknowledges)
    return record


def shown(pointer: Pointer) -> str:
    """A pointer as it was written; the whole document is `''`."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in pointer) or "''"


def _items(extraction: Extraction, document: Any, shape: Shape) -> list[Any]:
    assert extraction.items is not None
    items = first(document, extraction.items)
    if items is None or items is MISSING:
        _found(MISSING, extraction.items, extraction.lenient)
        return []
    if not isinstance(items, list):
        raise Unreadable(f"{_places(extraction.items)} is no list")
    kept = [item for item in items if all(_equal(item, *condition) for condition in extraction.where)]
    values = [_record(extraction.members, item) if extraction.members else item for item in kept]
    if kept and all(value is MISSING for value in values):
        raise Unreadable(f"none of {len(kept)} items holds {_places(extraction.members.get('text', ()))}")
    found = [value for value in values if value is not MISSING]
    if shape is Shape.NAMES:
        found = [value if isinstance(value, str) else _text(value) for value in found]
    return found[::-1] if extraction.descending else found


def _record(members: Mapping[str, Pointers], document: Any) -> Any:
    """A text or an id alone as it is, several members as an object; MISSING where the text is, or where all are."""
    found = {name: first(document, pointers) for name, pointers in members.items()}
    if "text" in found:
        if found["text"] is MISSING:
            return MISSING
        found["text"] = _text(found["text"])
    present = {name: value for name, value in found.items() if value is not MISSING}
    if not present:
        return MISSING
    if len(members) == 1 and next(iter(members)) in ("id", "text"):
        return next(iter(present.values()))
    return present


def _found(value: Any, pointers: Pointers, may_be_missing: bool) -> Any:
    if value is not MISSING:
        return value
    if may_be_missing:
        return None
    raise Unreadable(f"nothing at {_places(pointers)}")


def _places(pointers: Pointers) -> str:
    return " or ".join(shown(pointer) for pointer in pointers) or "any member"


def _text(value: Any) -> str:
    """Content that is a list of parts or an object stays findable as JSON; nothing is the empty text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _equal(item: Any, pointer: Pointer, value: Any) -> bool:
    found = resolve(item, pointer)
    return found is not MISSING and _same(found, value)


def _same(one: Any, other: Any) -> bool:
    """JSON equality: `true` is not 1."""
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)
