"""A local embedding: no model and no network, the same vector for the same text on every machine."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence

DIMENSIONS = 64
_STEPS = 127
Vector = tuple[float, ...]


def embed(text: str) -> Vector:
    """The text as a unit vector of 64 numbers; all zero for a text without letters and digits.

    Words and their trigrams are hashed to signed places (feature hashing, Weinberger et al. 2009), so that texts which
    share words or word stems point the same way.
    """
    places = [0.0] * DIMENSIONS
    for feature in _features(text):
        digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=2).digest()
        places[digest[0] % DIMENSIONS] += 1.0 if digest[1] & 1 else -1.0
    length = math.sqrt(sum(place * place for place in places))
    return tuple(place / length for place in places) if length else tuple(places)


def nearness(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two unit vectors: 1 for the same direction, 0 for nothing in common."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def packed(vector: Vector) -> str:
    """A vector as a store keeps it: one byte a dimension, in hex."""
    return bytes(round(place * _STEPS) & 0xFF for place in vector).hex()


def unpacked(text: str) -> Vector:
    """The vector that `packed` kept, to within 1/127 a dimension."""
    return tuple((byte - 256 if byte > _STEPS else byte) / _STEPS for byte in bytes.fromhex(text))


def _features(text: str) -> Iterator[str]:
    for word in re.findall(r"[^\W_]+", text.casefold()):
        yield word
        yield from (f"~{word[at : at + 3]}" for at in range(len(word) - 2))
