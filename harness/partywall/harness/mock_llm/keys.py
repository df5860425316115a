"""API keys: never kept, only their salted hashes; a key registered to one identity names that identity."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from urllib.parse import quote, unquote

Owner = tuple[str | None, ...]
"""The first one to four ids of a path: (tenant,), (tenant, user), …"""

SECRET = {b"authorization", b"proxy-authorization", b"x-api-key", b"api-key", b"x-goog-api-key", b"cookie"}
"""Headers that hold a credential, in lower case."""

_IN_QUERY = re.compile(r"(?<=[?&])((?:api[_-]?key|key|access_token|token)=)([^&#]+)", re.IGNORECASE)
_IN_RAW = re.compile(
    rb"((?:proxy-)?authorization|x-api-key|api-key|x-goog-api-key|cookie)([ \t]*:[ \t]*)([^\r\n]*)",
    re.IGNORECASE,
)


class ApiKeys:
    """Which identity a key stands for, looked up by salted hash; the salt lives as long as the server."""

    __slots__ = ("_owners", "_salt")

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)
        self._owners: dict[str, Owner | None] = {}

    def register(self, key: str, owner: Sequence[str | None]) -> None:
        """Let `key` stand for `owner`; a key given to a second owner stands for nobody from then on."""
        hashed, path = self.hash(key.encode()), trimmed(owner)
        known = self._owners.get(hashed, path)
        self._owners[hashed] = path if known == path else None

    def owner(self, hashed: str) -> Owner | None:
        """The one identity that a hashed key stands for, None where there is none or several."""
        return self._owners.get(hashed)

    def hash(self, key: bytes) -> str:
        """A key as 24 hex digits that cannot be turned back and mean nothing in another server."""
        return hashlib.blake2b(key, key=self._salt, digest_size=12).hexdigest()

    def redact(self, value: bytes) -> tuple[bytes, str]:
        """A credential header's value as it may be kept, and the hash of the credential it held."""
        scheme, space, credential = value.rpartition(b" ")
        hashed = self.hash(credential)
        return scheme + space + b"#" + hashed.encode(), hashed

    def redact_target(self, target: str) -> str:
        """A request target without the keys that its query may carry."""
        return _IN_QUERY.sub(lambda found: f"{found[1]}#{self.hash(found[2].encode())}", target)

    def redact_raw(self, data: bytes) -> bytes:
        """Bytes that were no valid request, without the credential lines in them."""
        return _IN_RAW.sub(lambda found: found[1] + found[2] + b"#" + self.hash(found[3]).encode(), data)


def trimmed(path: Sequence[str | None]) -> Owner:
    """A path without the empty ids at its end."""
    ids = tuple(path)
    while ids and not ids[-1]:
        ids = ids[:-1]
    return ids


def scope_key(path: Sequence[str | None]) -> str:
    """A path as one text, its ids quoted and joined by `/`; quoted again it follows `/s/` in a base URL."""
    return "/".join([quote(id or "", safe="") for id in trimmed(path)])


def owner_of(key: str) -> Owner:
    """The path that `scope_key` wrote."""
    return trimmed([unquote(id) for id in key.split("/")])
