"""Decisions: each choice of the mock is drawn from the seed, the scope and the call, never from the clock."""

from __future__ import annotations

import hashlib


class Decisions:
    """The seed's streams and, per scope, the calls counted so far.

    A draw is `HMAC(seed, scope | rule | key)`, with keyed BLAKE2b (RFC 7693) as the MAC. The key is the
    call's index in its scope where order is the point (when does a fault strike), and the body where only
    content may count (ids): calls that run side by side in one scope arrive in any order, and their answers
    must not depend on it.
    """

    __slots__ = ("_retries", "_scopes", "_seed", "_streams")

    def __init__(self, seed: int) -> None:
        self._seed = hashlib.sha256(str(seed).encode()).digest()
        self._scopes: dict[str, dict[bytes, int]] = {}
        self._retries: dict[tuple[str, int], int] = {}
        self._streams: dict[tuple[str, str], hashlib.blake2b] = {}

    def draw(self, scope: str, rule: str, key: bytes) -> bytes:
        """32 bytes, the same for the same seed, scope, rule and key."""
        stream = self._streams.get((scope, rule)) or self._open(scope, rule)
        stream = stream.copy()
        stream.update(key)
        return stream.digest()

    def count(self, scope: str, digest: bytes) -> tuple[int, int]:
        """(call index from 1, attempt from 1) in its scope of the body that `digest` stands for.

        A body seen before is a retry: it keeps its index, and its attempt goes up.
        """
        calls = self._scopes.get(scope)
        if calls is None:
            calls = self._scopes[scope] = {}
        call = calls.get(digest)
        if call is None:
            calls[digest] = call = len(calls) + 1
            return call, 1
        retries = self._retries
        attempt = retries[scope, call] = retries.get((scope, call), 1) + 1
        return call, attempt

    def _open(self, scope: str, rule: str) -> hashlib.blake2b:
        """The stream of one rule in one scope; lengths stand before texts, so that no two run together."""
        texts = [text.encode("utf-8", "surrogatepass") for text in (scope, rule)]
        start = b"".join([b"%d:%b|" % (len(text), text) for text in texts])
        stream = self._streams[scope, rule] = hashlib.blake2b(start, key=self._seed, digest_size=32)
        return stream
