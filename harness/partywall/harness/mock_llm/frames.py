"""Frames: the bytes of an answer and what else is done to the connection, in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus

from .document import Document


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait so many seconds before the next frame."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reset:
    """End the connection with a TCP RST (SO_LINGER 0); what is still unsent is lost."""


@dataclass(frozen=True, slots=True)
class Fin:
    """Send what is unsent, then close both directions."""


@dataclass(frozen=True, slots=True)
class HalfClose:
    """Send what is unsent, then FIN our direction only; the client may go on sending."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Say nothing more and keep the connection open until the client leaves."""


Frame = bytes | Sleep | Reset | Fin | HalfClose | Stall
Frames = Iterable[Frame]
"""What a fault makes of an answer; an iterator may be endless."""


def render(document: Document, *, keep_alive: bool, chunked: bool) -> tuple[bytes, ...]:
    """The document in HTTP/1.1: the head, then the body or one chunk an event, then the end.

    `chunked` False is for HTTP/1.0 clients: a stream then ends where the connection does.
    """
    events = document.events
    if events is None:
        head = _head(document.status, document.media_type, keep_alive, False)
        return (head % (document.request_id.encode(), len(document.body)), document.body)
    keep_alive = keep_alive and chunked
    head = _head(document.status, document.media_type, keep_alive, True, chunked)
    head = head % document.request_id.encode()
    if not chunked:
        return (head, *events)
    chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    return (head, *chunks, b"0\r\n\r\n")


def joined(document: Document, *, keep_alive: bool, chunked: bool) -> bytes:
    """The same in one piece, which is one write however many events there are."""
    return b"".join(render(document, keep_alive=keep_alive, chunked=chunked))


@lru_cache(maxsize=256)
def _head(status: int, media_type: str, keep_alive: bool, stream: bool, chunked: bool = True) -> bytes:
    """A head with places left for the request id and, where the body's length is known, the length."""
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", f"content-type: {media_type}", "x-request-id: %b"]
    if stream:
        lines.append("cache-control: no-cache")
        if chunked:
            lines.append("transfer-encoding: chunked")
    else:
        lines.append("content-length: %d")
    if not keep_alive:
        lines.append("connection: close")
    return "\r\n".join([*lines, "", ""]).encode()
