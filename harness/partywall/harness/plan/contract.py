"""The shape of every completion, judged at the seam: what an adapter returns becomes plain JSON or a problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import ContractError
from .operation import OPERATIONS, Shape

MAX_CHARACTERS = 8_000_000
MAX_ITEMS = 100_000
MAX_DEPTH = 32
MAX_BITS = 4_096


class LimitHit(Exception):
    """An answer is larger than the seam takes: neither right nor wrong, so its outcome is unknown."""


def plain(value: Any) -> Any:
    """`value` as JSON data: tuples and iterators become lists, bytes become text, lone surrogates are escaped.

    Raises LimitHit beyond 8,000,000 characters, 100,000 items or a depth of 32, and ContractError for what JSON
    cannot hold. Bytes that are no UTF-8 keep their ASCII part: that is where a canary would stand.
    """
    return _Plain().convert(value, 0)


def conform(operation: str, value: Any) -> Any:
    """`value` (already plain) in the shape that contract v1 gives `operation`; ContractError otherwise."""
    shape = OPERATIONS[operation].shape
    problem = _RULES[shape](value)
    if problem is not None:
        raise ContractError([f"{operation} returned {_kind(value)}{problem}; expected {shape.value}"])
    return value


class _Plain:
    def __init__(self) -> None:
        self.characters = 0
        self.items = 0

    def convert(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise LimitHit(f"answer nested deeper than {MAX_DEPTH}")
        if isinstance(value, int) and value.bit_length() > MAX_BITS:  # more digits than Python will print
            raise LimitHit(f"answer with a number of more than {MAX_BITS:,} bits")
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, bytes | bytearray | memoryview):
            self._count(len(value))
            return bytes(value).decode("utf-8", "backslashreplace")
        if isinstance(value, str):
            self._count(len(value))
            return value.encode("utf-8", "backslashreplace").decode()
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, list | tuple | set | frozenset | Iterator):
            return [self.convert(item, depth + 1) for item in self._each(value)]
        raise ContractError([f"returned {_kind(value)}, which is no JSON data"])

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in self._each(value.items()):
            name = self._key(key)
            if name in found:  # one of the two would go unseen
                raise ContractError([f"returned a mapping with two keys that are written {name[:80]!r}"])
            found[name] = self.convert(item, depth + 1)
        return found

    def _key(self, key: Any) -> str:
        if not isinstance(key, str | int | float | bool | None):
            raise ContractError([f"returned a mapping with a key of type {type(key).__name__}; expected text"])
        return str(self.convert(key, 0))

    def _each(self, values: Any) -> Iterator[Any]:
        for value in values:
            self.items += 1
            if self.items > MAX_ITEMS:
                raise LimitHit(f"answer with more than {MAX_ITEMS:,} items")
            yield value

    def _count(self, characters: int) -> None:
        self.characters += characters
        if self.characters > MAX_CHARACTERS:
            raise LimitHit(f"answer larger than {MAX_CHARACTERS:,} characters")


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _turn_ack(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        return ""
    turn = value.get("turn")
    return None if turn is None or (_number(turn) and turn >= 1) else f" whose turn is {turn!r}, not a number from 1"


def _turns(value: Any) -> str | None:
    if not isinstance(value, list):
        return ""
    numbered = 0
    for item in value:
        if _is_text(item):
            continue
        if not isinstance(item, dict) or not _is_text(item.get("text")):
            return f" holding {_kind(item)} that is neither text nor a turn with text"
        turn = item.get("turn")
        if turn is not None:
            if not _number(turn) or turn < 1:
                return f" with the turn number {turn!r}, not a number from 1"
            numbered += 1
    return None if numbered in (0, len(value)) else " that numbers some turns and not others"


def _texts(value: Any) -> str | None:
    if not isinstance(value, list):
        return ""
    for item in value:
        if not (_is_text(item) or (isinstance(item, dict) and _is_text(item.get("text")))):
            return f" holding {_kind(item)} that has no text"
    return None


def _only(*accepted: Callable[[Any], bool]) -> Callable[[Any], str | None]:
    return lambda value: None if any(accept(value) for accept in accepted) else ""


def _with_text(value: Any) -> bool:
    return isinstance(value, dict) and _is_text(value.get("text"))


def _nothing(value: Any) -> bool:
    return value is None


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _texts_only(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(item) for item in value)


def _places(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(items, list) for items in value.values())


def _info(value: Any) -> bool:
    return isinstance(value, dict) and value.get("state") in ("active", "idle", "expired", "archived")


def _anything(value: Any) -> bool:
    return True


_RULES: Mapping[Shape, Callable[[Any], str | None]] = {
    Shape.NOTHING: _only(_nothing),
    Shape.IDENTIFIER: _only(_nothing, _is_text, _number, lambda value: isinstance(value, dict)),
    Shape.TURN_ACK: _turn_ack,
    Shape.TURNS: _turns,
    Shape.REPLY: _only(_is_text, _with_text),
    Shape.SNIPPETS: _only(_is_text, _list),
    Shape.TEXTS: _texts,
    Shape.MEMORY: _only(_nothing, _is_text, _with_text),
    Shape.FACT: _only(_anything),
    Shape.RECORDS: _only(_list, lambda value: isinstance(value, dict)),
    Shape.TEXT: _only(_nothing, _is_text),
    Shape.NAMES: _only(_texts_only),
    Shape.INFO: _only(_info),
    Shape.REPORT: _only(_anything),
    Shape.PLACES: _only(_places),
    Shape.LINES: _only(_is_text, _texts_only),
}
