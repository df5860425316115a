"""Frames: plain values over a socket, between the process that serves and the one that checks."""

from __future__ import annotations

import marshal
import socket
from collections.abc import Mapping
from typing import Any

_LENGTH = 8
_VERSION = 2
"""Of marshal: later ones look every object up that occurs twice, which takes longer than writing it again."""


def frozen(value: Any) -> bytes:
    """`value` as bytes that `thawed` reads. What cannot be written becomes None, in whatever it stands.

    Not pickle, which takes four times as long, and builds whatever it is told to.
    """
    try:
        return marshal.dumps(value, _VERSION)
    except ValueError:  # something that a server or an application of its own kind put there
        return marshal.dumps(_plain(value), _VERSION)


def thawed(data: bytes) -> Any:
    """The value that `frozen` wrote. Raises ValueError, TypeError or EOFError where it did not."""
    return marshal.loads(data)


def packed(value: Any) -> bytes:
    """A value as it goes over the socket."""
    body = frozen(value)
    return len(body).to_bytes(_LENGTH, "big") + body


def unpacked(connection: socket.socket) -> Any:
    """The next frame's value. Raises EOFError where the other side is gone, TimeoutError where it takes too long."""
    return thawed(_exactly(connection, int.from_bytes(_exactly(connection, _LENGTH), "big")))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_plain(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
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
