"""Exchange: one request and its reply as they crossed an ASGI server, read out of its path."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_plus

from partywall.canaries import UsageError

from ..plan.channel import Channel
from ..plan.identity import RawPath
from ..plan.leaves import leaves
from .record import Passed
from .stream import assembled

FAILED = "error"
"""The stratum of a reply that is the server's failure."""

_TEXTS = (b"text/", b"json", b"xml", b"javascript", b"x-www-form-urlencoded", b"event-stream", b"graphql")
_INFLATED = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}
_NAMED = (len(b"content-type"), len(b"content-encoding"))
_UNREAD = object()
_SOURCES = ("header", "state", "body")


@dataclass(frozen=True, slots=True)
class ScopeFrom:
    """Where a request's scope stands, the first hit wins: `header:NAME`, `state:KEY`, `body:/pointer`.

    `state` is what an authenticating middleware has put into the ASGI scope's state; take the tenant from there where
    a header is the client's to choose. Nowhere found is nobody: never guessed. Raises UsageError for another source.
    """

    tenant: tuple[str, ...] = ("state:tenant", "header:x-tenant-id")
    user: tuple[str, ...] = ("state:user", "header:x-user-id")
    session: tuple[str, ...] = ("state:session", "header:x-session-id")
    task: tuple[str, ...] = ("state:task", "header:x-task-id")
    trace: tuple[str, ...] = ("state:trace", "header:traceparent", "header:x-request-id")

    def __post_init__(self) -> None:
        for name in ("tenant", "user", "session", "task", "trace"):
            sources = getattr(self, name)
            for source in (sources,) if isinstance(sources, str) else sources:
                kind, colon, rest = str(source).partition(":")
                if isinstance(sources, str) or kind not in _SOURCES or not colon or not rest:
                    expected = "expected a tuple of header:NAME, state:KEY, body:/pointer"
                    raise UsageError(f"{name} cannot be taken from {source!r}; {expected}")

    @property
    def state_keys(self) -> tuple[str, ...]:
        """The keys of the state that are read."""
        every = (*self.tenant, *self.user, *self.session, *self.task, *self.trace)
        return tuple(source.partition(":")[2] for source in every if source.startswith("state:"))


@dataclass(frozen=True, slots=True)
class Copy:
    """What crossed while one request was served, as plain data.

    `asked` and `replied` are the bodies either way, up to a cap that `left` tells how much was left of; `cut` says that
    a reply went beyond it. `state` holds the keys of the scope's state that scopes are taken from.
    """

    headers: Sequence[tuple[bytes, bytes]]
    path: str
    query: bytes
    asked: Sequence[bytes]
    replied: Sequence[bytes]
    start: Mapping[str, Any] | None
    state: Mapping[str, Any] | None
    cut: bool


class Exchange:
    """The record of a copy. All that a client sends is its own input; all that comes back is derived."""

    __slots__ = ("_body", "_copy", "_headers", "_replies", "sampled_by", "trace", "viewer")

    def __init__(self, copy: Copy, scope_from: ScopeFrom, replies: Sequence[bytes]) -> None:
        self._copy = copy
        self._replies = replies
        self._body: Any = _UNREAD
        headers: dict[bytes, bytes] = {}
        for name, value in copy.headers:
            headers.setdefault(name, value)
        self._headers = headers
        self.viewer: RawPath = (
            self._first(scope_from.tenant),
            self._first(scope_from.user),
            self._first(scope_from.session),
            self._first(scope_from.task),
        )
        self.trace = self._first(scope_from.trace) or ""
        self.sampled_by = self.viewer[2] or self.trace

    @property
    def stratum(self) -> str:
        """Failures show what nobody meant to show."""
        return FAILED if self._status >= 500 else ""

    def own(self) -> Sequence[str]:
        """Path, query and body of the request, as sent and unquoted."""
        query = bytes(self._copy.query).decode("latin-1")
        asked = b"".join(self._copy.asked)
        return [str(self._copy.path), query, unquote_plus(query), *_texts(asked)]

    def shown(self) -> Sequence[tuple[str, str]]:
        """The texts of the reply."""
        channel = Channel.ERRORS if self._status >= 400 else Channel.REPLY
        return [(channel, text) for body in self._replies for text in _texts(body)]

    @property
    def _status(self) -> int:
        status = (self._copy.start or {}).get("status", 200)
        return status if isinstance(status, int) else 200

    def _first(self, sources: Sequence[str]) -> str | None:
        for source in sources:
            kind, rest, header = _parsed(source)
            if kind == "header":
                raw = self._headers.get(header)
                if raw:
                    return raw.decode("latin-1")
                continue
            value = (self._copy.state or {}).get(rest) if kind == "state" else _pointed(self._document(), rest)
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if isinstance(value, str) and value:
                return value
        return None

    def _document(self) -> Any:
        if self._body is _UNREAD:
            self._body = _json(b"".join(self._copy.asked))
        return self._body


def passed_of(copy: Copy, scope_from: ScopeFrom, cap: int) -> Passed:
    """A copy as the checker takes it; without a record where nothing can be read: `binary`, `encoded`. Nothing is
    inflated beyond `cap` bytes."""
    media = encoding = b""
    for name, value in (copy.start or {}).get("headers", ()):
        if len(name) in _NAMED and (lower := name.lower()) in (b"content-type", b"content-encoding"):
            media, encoding = (value.lower(), encoding) if lower == b"content-type" else (media, value.lower())
    asked, reply, cut = b"".join(copy.asked), b"".join(copy.replied), copy.cut
    if media and not any(text in media for text in _TEXTS):
        return Passed((), None, "binary")
    if encoding not in (b"", b"identity"):
        inflated = _inflated(reply, encoding, cap)
        if inflated is None:
            return Passed((), None, "encoded")
        reply, cut = inflated, cut or len(inflated) >= cap
    # a token that streams in pieces stands in no event: the pieces are put together before anything is scanned
    replies = (reply, assembled(reply)) if b"event-stream" in media else (reply,)
    return Passed((asked, *replies), Exchange(copy, scope_from, replies), "too_long" if cut else "")


@lru_cache(maxsize=256)
def _parsed(source: str) -> tuple[str, str, bytes]:
    kind, _, rest = source.partition(":")
    return kind, rest, rest.lower().encode("latin-1", "replace")


def _texts(body: bytes) -> list[str]:
    document = _json(body)
    if document is None:
        text = body.decode("utf-8", "surrogateescape")
        return [text, unquote_plus(text)] if "%" in text or "+" in text else [text]
    return [text for _, text in leaves(document)]


def _json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8", "surrogateescape")) if body[:1] in b'{[" \n\t\r' else None
    except ValueError:
        return None


def _pointed(document: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(document, dict) or name not in document:
            return None
        document = document[name]
    return document


def _inflated(body: bytes, encoding: bytes, most: int) -> bytes | None:
    if encoding not in _INFLATED:
        return None
    try:
        return zlib.decompressobj(_INFLATED[encoding]).decompress(body, most)
    except zlib.error:
        return None
