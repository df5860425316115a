"""Templates: JSON structure with `{{name}}` in its texts, filled by structure and never by text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

_PLACEHOLDER = re.compile(r"\{\{(?:\s*([a-z_][a-z0-9_]*(?:\.[a-z_]+)?)(\?)?\s*\}\})?")
_HEADER_UNSAFE = re.compile(r"[\x00-\x1f\x7f]|^\s|\s$")
_PATH_LITERAL = "/:@!$&'()*+,;=~%"


class Inexpressible(Exception):
    """What was planned cannot stand where the profile puts it, so that the call is not sent."""


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
"""What `{{name?}}` gives where the value is None: the entry that holds it is left out."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One `{{name}}`, or `{{name?}}` where it may be left out."""

    name: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A text with at least one placeholder in it."""

    parts: tuple[str | Placeholder, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """An object or array with placeholders somewhere below: keys (None for an array) and their nodes."""

    entries: tuple[tuple[str | None, Node], ...]
    array: bool


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is always the same."""

    value: Any


Node = Literal | Text | Structure

EMPTY = Structure((), array=False)
"""No fields at all."""


def compiled(value: Any) -> Node:
    """A JSON value as a template. Raises ValueError for a `{{` that begins no placeholder."""
    if isinstance(value, str):
        parts = _parts(value)
        return Text(parts) if any(isinstance(part, Placeholder) for part in parts) else Literal(value)
    if isinstance(value, dict):
        return Structure(tuple((str(key), compiled(item)) for key, item in value.items()), array=False)
    if isinstance(value, list | tuple):
        return Structure(tuple((None, compiled(item)) for item in value), array=True)
    return Literal(value)


def names(node: Node) -> Iterator[str]:
    """The names that a template needs."""
    if isinstance(node, Text):
        yield from (part.name for part in node.parts if isinstance(part, Placeholder))
    elif isinstance(node, Structure):
        for _, item in node.entries:
            yield from names(item)


def render(node: Node, variables: Mapping[str, Any]) -> Any:
    """The value with its placeholders filled, or ABSENT.

    A placeholder that is the whole text keeps the type of its value; inside a longer text, numbers, booleans and
    structures are written as JSON writes them, and None raises Inexpressible.
    """
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Text):
        return _text(node, variables)
    pairs = [(key, render(item, variables)) for key, item in node.entries]
    if node.array:
        return [value for _, value in pairs if value is not ABSENT]
    return {key: value for key, value in pairs if value is not ABSENT}


def render_path(node: Node, variables: Mapping[str, Any]) -> str:
    """A request path: what a placeholder brings is percent-encoded whole, so it can neither add nor leave a segment."""
    if isinstance(node, Literal):
        return quote(str(node.value), safe=_PATH_LITERAL)
    assert isinstance(node, Text)
    pieces = []
    for part in node.parts:
        if isinstance(part, Placeholder):
            pieces.append(_segment(_written(part, _value(part, variables))))
        else:
            pieces.append(quote(part, safe=_PATH_LITERAL))
    return "".join(pieces)


def render_fields(node: Node, variables: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Query parameters or form fields: an array repeats its name, None raises Inexpressible."""
    assert isinstance(node, Structure)
    fields: list[tuple[str, str]] = []
    for name, value in render(node, variables).items():
        for item in value if isinstance(value, list) else [value]:
            if item is None:
                raise Inexpressible(f"field {name!r} would be None, which a query or a form cannot hold")
            fields.append((name, _plain(item)))
    return fields


def render_headers(node: Node, variables: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Header fields. Raises Inexpressible for None, control characters, and white space at an end, which servers
    strip: two different ids would arrive as one."""
    assert isinstance(node, Structure)
    headers: list[tuple[str, str]] = []
    for name, value in render(node, variables).items():
        if value is None:
            raise Inexpressible(f"header {name!r} would be None")
        text = _plain(value)
        if _HEADER_UNSAFE.search(text):
            raise Inexpressible(f"header {name!r} cannot hold this value")
        headers.append((name, text))
    return headers


def _parts(text: str) -> tuple[str | Placeholder, ...]:
    parts: list[str | Placeholder] = []
    at = 0
    for found in _PLACEHOLDER.finditer(text):
        if found[1] is None:
            raise ValueError("'{{' begins neither {{name}} nor {{name?}}")
        if found.start() > at:
            parts.append(text[at : found.start()])
        parts.append(Placeholder(found[1], found[2] is not None))
        at = found.end()
    if at < len(text):
        parts.append(text[at:])
    return tuple(parts)


def _text(node: Text, variables: Mapping[str, Any]) -> Any:
    if len(node.parts) == 1 and isinstance(node.parts[0], Placeholder):
        value = _value(node.parts[0], variables)
        return ABSENT if value is None and node.parts[0].optional else value
    pieces = []
    for part in node.parts:
        if isinstance(part, Placeholder):
            value = _value(part, variables)
            if value is None and part.optional:
                return ABSENT
            pieces.append(_written(part, value))
        else:
            pieces.append(part)
    return "".join(pieces)


def _value(part: Placeholder, variables: Mapping[str, Any]) -> Any:
    value = variables[part.name]
    return value() if callable(value) else value


def _written(part: Placeholder, value: Any) -> str:
    if value is None:
        raise Inexpressible(f"{part.name!r} is None, which cannot stand inside a text")
    return _plain(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _segment(value: str) -> str:
    if value.strip(".") == "":
        return "%2E" * len(value)  # a client that tidies up `..` would send another path than the one planned
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise Inexpressible("a path cannot hold half of a surrogate pair") from None
