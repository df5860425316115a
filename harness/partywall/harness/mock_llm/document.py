"""Document: what is answered, before it becomes bytes on a wire."""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

JSON = "application/json"
SSE = "text/event-stream; charset=utf-8"

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


class Document(NamedTuple):
    """A status with either one body or a stream of events, each a whole `data: …` block.

    `events` None means one body; an empty tuple is a stream that says nothing.
    """

    status: int
    media_type: str
    body: bytes
    request_id: str
    events: tuple[bytes, ...] | None = None

    def data(self) -> Any:
        """The body as JSON data, for a fault that changes one field of it."""
        return json.loads(self.body)


def quoted(text: str) -> str:
    """`text` as a JSON string in ASCII."""
    return encode_basestring_ascii(text)


def encode(data: object) -> str:
    """`data` as compact ASCII JSON; lone surrogates survive as escapes."""
    return _encode(data)
