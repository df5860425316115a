"""Embeddings: a hashed bag of words, so that texts that share words lie near each other, on every machine.

Each word is hashed to one of the dimensions and a sign (the hashing trick, Weinberger et al. 2009); the sum
is scaled to length 1. A text without a word gets the first unit vector. The seed plays no part: a vector
store filled under one seed can be searched under another.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from struct import pack
from typing import Any

from .codec import PromptError
from .document import JSON, Document, encode

DIMENSIONS = 64
"""Length of a vector where the request does not ask for another."""

_MOST_DIMENSIONS = 4096
_WORD = re.compile(r"\w+")


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """The vector of a text, of length 1."""
    vector = [0.0] * dimensions
    for word in _WORD.findall(text.lower()):
        place, sign = _place(word)
        vector[place % dimensions] += sign
    length = math.sqrt(sum(value * value for value in vector))
    if not length:
        return [1.0, *vector[1:]]
    return [value / length for value in vector]


def answer(body: Mapping[str, Any], request_id: str) -> Document:
    """The embeddings of a request in OpenAI's shape; PromptError where `input` cannot be embedded."""
    texts = _texts(body.get("input"))
    dimensions = body.get("dimensions") or DIMENSIONS
    if type(dimensions) is not int or not 0 < dimensions <= _MOST_DIMENSIONS:
        raise PromptError(f"Invalid 'dimensions': expected 1 to {_MOST_DIMENSIONS}.", "dimensions")
    vectors = [embed(text, dimensions) for text in texts]
    # The OpenAI client asks for base64 unless told otherwise: little-endian 32-bit floats.
    packed = body.get("encoding_format") == "base64"
    tokens = sum(len(text) for text in texts) // 4 + 1
    rows = [base64.b64encode(pack(f"<{dimensions}f", *row)).decode() if packed else row for row in vectors]
    data = {
        "object": "list",
        "data": [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)],
        "model": str(body.get("model") or "mock"),
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return Document(200, JSON, encode(data).encode(), request_id)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value:
        if all(isinstance(item, str) for item in value):
            return value
        if all(type(item) is int for item in value):
            return [" ".join(map(str, value))]
        if all(isinstance(item, list) for item in value):
            return [" ".join(map(str, item)) for item in value]
    raise PromptError("Invalid 'input': expected a text, a list of texts, or lists of tokens.", "input")


@lru_cache(maxsize=65_536)
def _place(word: str) -> tuple[int, float]:
    number = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return number >> 1, 1.0 if number & 1 else -1.0
