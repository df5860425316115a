"""One epoch's subkeys, derived from the deployment key: what marks are minted and opened with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from .errors import UsageError
from .scope import Level

Digests = tuple[int, int, int, int]
"""One number a level, outermost first, each over the path down to that level."""

DIGEST_BITS = {Level.TENANT: 16, Level.USER: 14, Level.SESSION: 14, Level.TASK: 16}
SHORTEST_KEY = 32
_SUBKEY_BYTES = 32
_RECORD = ("epoch", "digest", "mac", "stream")


@dataclass(frozen=True, slots=True)
class Keyring:
    """Three 32-byte subkeys of one epoch: digests of paths, authentication, encryption. Never printed."""

    epoch: str
    digest_key: bytes = field(repr=False)
    mac_key: bytes = field(repr=False)
    stream_key: bytes = field(repr=False)

    @classmethod
    def derive(cls, key: bytes | str, epoch: str) -> Keyring:
        """The subkeys of `epoch`: keyed BLAKE2b (RFC 7693) of a label and the epoch under the deployment key.

        Raises UsageError where the deployment key has fewer than 32 bytes or the epoch is no text.
        """
        if not isinstance(key, bytes | str):
            raise UsageError(f"deployment key must be text or bytes, got {type(key).__name__}")
        if not isinstance(epoch, str) or not epoch:
            raise UsageError(f"epoch must be text of at least one character, got {epoch!r}")
        raw = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key
        if len(raw) < SHORTEST_KEY:
            raise UsageError(f"deployment key must have at least {SHORTEST_KEY} bytes, got {len(raw)}")
        root = blake2b(raw, digest_size=64, person=b"partywall-root").digest()
        named = epoch.encode("utf-8", "surrogatepass")
        digest, mac, stream = (
            blake2b(label + b"\0" + named, key=root, digest_size=_SUBKEY_BYTES).digest()
            for label in (b"digest", b"mac", b"stream")
        )
        return cls(epoch, digest, mac, stream)

    def to_record(self) -> dict[str, str]:
        """The subkeys in hex, for a history that must stay judgeable without the deployment key."""
        subkeys = (self.digest_key.hex(), self.mac_key.hex(), self.stream_key.hex())
        return dict(zip(_RECORD, (self.epoch, *subkeys), strict=True))

    @classmethod
    def from_record(cls, record: Mapping[str, str]) -> Keyring:
        """The keyring that `to_record` wrote.

        Raises UsageError where a field is missing, no hex or of the wrong length.
        """
        try:
            epoch, *subkeys = (record[name] for name in _RECORD)
            digest, mac, stream = (bytes.fromhex(subkey) for subkey in subkeys)
        except (KeyError, TypeError, ValueError) as broken:
            known = ", ".join(_RECORD)
            raise UsageError(f"keyring record must hold {known} as text and hex, found {broken}") from None
        if not isinstance(epoch, str) or {len(digest), len(mac), len(stream)} != {_SUBKEY_BYTES}:
            raise UsageError(f"keyring record must hold an epoch and three subkeys of {_SUBKEY_BYTES} bytes")
        return cls(epoch, digest, mac, stream)

    def digests(self, path: Sequence[str | None]) -> Digests:
        """The four digests of a path of four ids, which may be empty or None: each has a value of its own."""
        hashed = blake2b(_framed(self.epoch), key=self.digest_key, digest_size=8)
        found: list[int] = []
        for level in Level:
            hashed.update(_framed(path[level - 1]))
            number = int.from_bytes(hashed.copy().digest(), "big")
            found.append(number >> 64 - DIGEST_BITS[level])
        tenant, user, session, task = found
        return tenant, user, session, task

    def boundary(self, owner: Digests, path: Sequence[str | None]) -> Level | None:
        """The outermost level at which a path's digests part from the owner's; None where none does."""
        for level, theirs, ours in zip(Level, self.digests(path), owner, strict=True):
            if theirs != ours:
                return level
        return None


def _framed(value: str | None) -> bytes:
    # The length in front keeps ("ab", "c") and ("a", "bc") apart; a length no text has stands for None.
    if value is None:
        return b"\xff" * 8
    raw = value.encode("utf-8", "surrogatepass")
    return len(raw).to_bytes(8, "big") + raw
