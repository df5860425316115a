"""Hashing: keyed hashes, for names in findings and for which records are looked at deeply."""

from __future__ import annotations

from hashlib import blake2b

_BITS = 53
"""What a float holds exactly, so that every fraction that can be drawn can be compared."""


class Hashes:
    """Two subkeys of the deployment key: without it nobody can tell by trying whose hash a finding holds."""

    __slots__ = ("_name", "_sample")

    def __init__(self, key: bytes) -> None:
        root = blake2b(key, digest_size=64, person=b"partywall-watch").digest()
        self._name, self._sample = (blake2b(label, key=root, digest_size=32).digest() for label in (b"name", b"sample"))

    def name(self, *parts: str | bytes | None) -> str:
        """Sixteen hex digits that stand for `parts`; ("ab", "c") and ("a", "bc") differ."""
        hashed = blake2b(key=self._name, digest_size=8)
        for part in parts:
            raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            hashed.update(b"\xff" * 8 if raw is None else len(raw).to_bytes(8, "big") + raw)
        return hashed.hexdigest()

    def fraction(self, name: str) -> float:
        """A number in [0, 1) that is always the same for `name`, and even over names however alike they are."""
        raw = name.encode("utf-8", "surrogatepass")
        drawn = int.from_bytes(blake2b(raw, key=self._sample, digest_size=8).digest(), "big")
        return (drawn >> 64 - _BITS) * 2.0**-_BITS
