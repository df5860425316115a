"""A piece of knowledge that nobody can change once it is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class KnowledgeChunk:
    """Text with its id, flat metadata and embedding, immutable all the way down.

    Metadata values are scalars, so a copied mapping shares nothing. The embedding takes no part in equality:
    two models may embed one chunk. Raises ValueError for whitespace-only text, an empty id, nested metadata
    or an embedding that is not finite.
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
        for name, value in self.metadata.items():
            if not isinstance(name, str) or not isinstance(value, str | int | float | bool | type(None)):
                raise ValueError(f"metadata must map text to scalars, got {type(value).__name__}")
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))
        if self.embedding is not None:
            numbers = tuple(float(number) for number in self.embedding)
            if not all(math.isfinite(number) for number in numbers):
                raise ValueError("an embedding holds finite numbers only")
            object.__setattr__(self, "embedding", numbers)

    def __hash__(self) -> int:
        return hash((self.text, self.chunk_id, frozenset(self.metadata.items())))
