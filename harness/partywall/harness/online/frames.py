"""Frames: plain values over a socket, between the process that serves and the one that checks."""

from __future__ import annotations

import marshal
import socket
from collections.abc import Mapping
from typing import Any

_LENGTH = 8
_VERSION = 2
"""Of marshal: later ones look every object up that occurs twice, which takes longer than writing it again."""


def packed(value: Any) -> bytes:
    """A frame of lists, tuples, dicts, texts, bytes and numbers. Raises ValueError for anything else.

    Not pickle, which takes four times as long, and builds whatever it is told to.
    """
    body = marshal.dumps(value, _VERSION)
    return len(body).to_bytes(_LENGTH, "big") + body


def unpacked(connection: socket.socket) -> Any:
    """The next frame's value. Raises EOFError where the other side is gone, TimeoutError where it takes too long."""
    return marshal.loads(_exactly(connection, int.from_bytes(_exactly(connection, _LENGTH), "big")))


def plain(value: Any) -> Any:
    """`value` as a frame can hold it: what is neither text, bytes, number, list nor mapping becomes None."""
    if isinstance(value, Mapping):
        return {plain(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else None


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise EOFError("the other process is gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
