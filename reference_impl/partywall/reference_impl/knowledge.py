"""A piece of knowledge that nobody can change once it is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from numbers import Real
from types import MappingProxyType
from typing import Any

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class KnowledgeChunk:
    """Text with its id, flat metadata and embedding, immutable all the way down.

    Metadata values are scalars, so a copied mapping shares nothing. The embedding takes no part in equality:
    two models may embed one chunk. Raises ValueError for whitespace-only text, an empty id, nested metadata
    or an embedding that is not of finite numbers.
    """

    text: str
    chunk_id: str
    metadata: Mapping[str, Value] = field(default_factory=dict)
    embedding: Iterable[float] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise ValueError("a chunk needs text that is more than white space")
        if not isinstance(self.chunk_id, str) or not self.chunk_id:
            raise ValueError("a chunk needs an id")
        object.__setattr__(self, "text", _plain(self.text))
        object.__setattr__(self, "chunk_id", _plain(self.chunk_id))
        object.__setattr__(self, "metadata", MappingProxyType(_flat(self.metadata)))
        if self.embedding is not None:
            object.__setattr__(self, "embedding", _numbers(self.embedding))

    def __hash__(self) -> int:
        return hash((self.text, self.chunk_id, frozenset(self.metadata.items())))


def _plain(value: Any) -> Any:
    """The value without what a class of its own may have added: attributes that can be set, another equality."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float.__float__(value)
    return value if value is None or isinstance(value, bool) else int.__int__(value)


def _flat(metadata: object) -> dict[str, Value]:
    if not isinstance(metadata, Mapping):
        raise ValueError(f"metadata must be a mapping, got {type(metadata).__name__}")
    copied = dict(metadata)  # before it is checked: what is checked is what is kept
    for name, value in copied.items():
        if not isinstance(name, str) or not isinstance(value, str | int | float | bool | type(None)):
            raise ValueError(f"metadata must map text to scalars, got {type(value).__name__}")
    return {_plain(name): _plain(value) for name, value in copied.items()}


def _numbers(embedding: object) -> tuple[float, ...]:
    if not isinstance(embedding, Iterable) or isinstance(embedding, str | bytes | bytearray | Mapping | Set):
        raise ValueError(f"an embedding is a sequence of numbers, got {type(embedding).__name__}")
    given = tuple(embedding)
    if not all(isinstance(number, Real) and not isinstance(number, bool) for number in given):
        raise ValueError("an embedding holds numbers only")
    try:
        numbers = tuple(float(number) for number in given)
    except OverflowError:
        numbers = (math.inf,)
    if not all(math.isfinite(number) for number in numbers):
        raise ValueError("an embedding holds finite numbers only")
    return numbers
