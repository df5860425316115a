"""Listing: what a full read of turns shows, item by item, as the values that the driver wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """One turn of a listing: the token that it is the turn of, empty for a text that the driver did not write."""

    token: str
    number: int | None


class Tokens:
    """Finds the one canary that a text of the driver bears; each text is looked at once."""

    def __init__(self, prefix: str, sown: Iterable[str]) -> None:
        self._pattern = re.compile(f"{re.escape(prefix)}[0-9a-z]{{24}}", re.IGNORECASE)
        self._sown = frozenset(sown)
        self._found: dict[str, str] = {}

    def of(self, text: str) -> str:
        """The sown canary in `text`; empty where there is none, or more than one: nobody wrote a turn with two."""
        token = self._found.get(text)
        if token is None:
            tokens = {found.lower() for found in self._pattern.findall(text)} & self._sown
            token = self._found[text] = tokens.pop() if len(tokens) == 1 else ""
        return token


def items_of(value: Any, tokens: Tokens, planted: Mapping[str, frozenset[str]], roles: frozenset[str]) -> list[Item]:
    """The items of a listing, in its order.

    A turn is the driver's where its text is what was planted. Where no item of the listing is just that, for a target
    may dress its texts, the first one that holds the canary counts, and whatever repeats it to the letter: an
    assistant's reply may quote a turn, and that is no second one.
    """
    texts = [_text(item) for item in value]
    found = [tokens.of(text) if _role(item) in (None, *roles) else "" for item, text in zip(value, texts, strict=True)]
    counts = _counting(texts, found, planted)
    return [
        Item(token if token and counts[token](text) else "", _number(item))
        for item, text, token in zip(value, texts, found, strict=True)
    ]


def _counting(
    texts: list[str], found: list[str], planted: Mapping[str, frozenset[str]]
) -> dict[str, Callable[[str], bool]]:
    first: dict[str, str] = {}
    exact: set[str] = set()
    for text, token in zip(texts, found, strict=True):
        if token:
            first.setdefault(token, text)
            if text in planted.get(token, ()):
                exact.add(token)
    return {token: planted[token].__contains__ if token in exact else text.__eq__ for token, text in first.items()}


def _text(item: Any) -> str:
    return str(item.get("text", "")) if isinstance(item, dict) else str(item)


def _role(item: Any) -> str | None:
    return item.get("role") if isinstance(item, dict) else None


def _number(item: Any) -> int | None:
    return item.get("turn") if isinstance(item, dict) else None
