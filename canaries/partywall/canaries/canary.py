"""The token: mint, open, verify; and the canary, a token with an owner and a reach.

token = prefix + 24 symbols = 120 bits = 80 of encrypted payload, then 40 of tag (a synthetic IV, RFC 5297's
idea with keyed BLAKE2b). Payload, most significant first: kind 4, tenant 16, user 14, session 14, task 16,
seq 16. The owner can be checked from the token alone, so no scanner needs a registry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from .alphabet import BODY_LENGTH, DEFAULT_PREFIX, canonical, checked_prefix, decode_body, encode_body
from .errors import UsageError
from .keyring import DIGEST_BITS, Digests, Keyring
from .scope import Level, Scope, boundary

KINDS = (
    "message",
    "document",
    "fact",
    "tool",
    "artifact",
    "memory",
    "session",
    "task",
    "preference",
    "cache",
    "prompt",
    "reply",
    "log",
    "control",
    "probe",
    "other",
)
"""What a canary was put into, by its 4-bit number."""

MAX_SEQ = 0xFFFF
ANYWHERE = "*"
"""The channel whose reach holds where a channel has none of its own."""

_PAYLOAD_BYTES = 10
_TAG_BYTES = 5
_FIELD_BITS = (*(DIGEST_BITS[level] for level in Level), 16)


def reaches(reach: Mapping[str, Level], parted: Level, channel: str) -> bool:
    """Whether content of that reach may be seen in `channel` by one who parts from its owner at `parted`.

    The whole leak rule: with reach SESSION, another task of the session (TASK > SESSION) may, another session
    may not.
    """
    return parted > reach.get(channel, reach.get(ANYWHERE, Level.TASK))


@dataclass(frozen=True, slots=True)
class Canary:
    """A sown mark: who owns it, and at which level its visibility ends, channel by channel.

    `reach[channel]` is the innermost level that must still agree, `reach["*"]` holds for every other channel.
    """

    owner: Scope
    reach: Mapping[str, Level] = field(hash=False)
    kind: str
    seq: int
    text: str = field(repr=False)

    def visible_to(self, viewer: Scope | Sequence[str | None], channel: str) -> bool:
        """Whether `viewer` may see it in `channel`; without any recorded reach, its owner alone may."""
        crossed = boundary(self.owner.path, _path(viewer))
        return crossed is None or reaches(self.reach, crossed, channel)

    @property
    def short(self) -> str:
        """Six hex digits that name it in a report without printing it."""
        return short_id(self.text)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a genuine token says: kind, seq, epoch, and its owner as one digest a level."""

    kind: str
    seq: int
    epoch: str
    digests: Digests
    token: str = field(repr=False)
    keyring: Keyring = field(repr=False)

    def boundary(self, viewer: Scope | Sequence[str | None]) -> Level | None:
        """The outermost level at which `viewer` parts from the owner; None where `viewer` is the owner.

        A crossing goes unnoticed with probability 2^-60 (tenant), 2^-44 (user), 2^-30 (session), 2^-16
        (task).
        """
        return self.keyring.boundary(self.digests, _path(viewer))

    @property
    def short(self) -> str:
        """Six hex digits that name it in a report; the same as its canary's."""
        return short_id(self.token)


@dataclass(frozen=True, slots=True)
class Mint:
    """Makes tokens of one epoch. The same owner, kind and seq give the same token, always.

    Raises UsageError where the prefix is refused.
    """

    keyring: Keyring
    prefix: str = DEFAULT_PREFIX

    def __post_init__(self) -> None:
        checked_prefix(self.prefix)

    def token(self, owner: Scope, kind: int | str = "message", seq: int = 0) -> str:
        """The token of `owner`: prefix and 24 symbols of `[0-9a-z]`.

        Raises UsageError where `kind` is unknown or `seq` is outside 0…65535.
        """
        number = kind_number(kind)
        if isinstance(seq, bool) or not isinstance(seq, int) or not 0 <= seq <= MAX_SEQ:
            raise UsageError(f"canary seq must be a number from 0 to {MAX_SEQ}, got {seq!r}")
        for bits, value in zip(_FIELD_BITS, (*self.keyring.digests(owner.path), seq), strict=True):
            number = number << bits | value
        payload = number.to_bytes(_PAYLOAD_BYTES, "big")
        tag = _tag(self.keyring, payload)
        return self.prefix + encode_body(_masked(self.keyring, payload, tag) + tag)

    def canary(self, owner: Scope, reach: Mapping[str, Level], kind: int | str = "message", seq: int = 0) -> Canary:
        """The canary of `owner`, its token as text. Raises UsageError as `token` does."""
        return Canary(owner, dict(reach), KINDS[kind_number(kind)], seq, self.token(owner, kind, seq))


def kind_number(kind: int | str) -> int:
    """The 4-bit number of a kind. Raises UsageError, naming the known kinds, where there is none."""
    if isinstance(kind, str) and kind in KINDS:
        return KINDS.index(kind)
    if isinstance(kind, int) and not isinstance(kind, bool) and 0 <= kind < len(KINDS):
        return kind
    raise UsageError(f"no canary kind {kind!r}; known: {', '.join(KINDS)} or their numbers from 0")


def open_token(token: str, keyrings: Sequence[Keyring], prefix: str = DEFAULT_PREFIX) -> Opened | None:
    """What `token` says, or None where no keyring made it. Any case; `i l` read as 1 and `o` as 0."""
    if len(token) != len(prefix) + BODY_LENGTH or token[: len(prefix)].lower() != prefix:
        return None
    return open_body(token[len(prefix) :], keyrings, prefix)


def open_body(body: str, keyrings: Sequence[Keyring], prefix: str = DEFAULT_PREFIX) -> Opened | None:
    """As `open_token`, for the 24 characters after the prefix."""
    raw = decode_body(body)
    if raw is None:
        return None
    cipher, tag = raw[:_PAYLOAD_BYTES], raw[_PAYLOAD_BYTES:]
    for keyring in keyrings:
        payload = _masked(keyring, cipher, tag)
        if _tag(keyring, payload) == tag:
            return _opened(payload, prefix + canonical(body), keyring)
    return None


def short_id(token: str) -> str:
    """Six hex digits of BLAKE2b over the canonical token: the same for every spelling of it."""
    return blake2b(canonical(token).encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()


def redact_tokens(text: str, prefix: str = DEFAULT_PREFIX) -> str:
    """`text` with every token, whole or cut short, in any case, shortened to `prefix…` and its short id."""
    pattern = re.compile(f"{re.escape(prefix)}[0-9a-z]{{1,{BODY_LENGTH}}}", re.IGNORECASE | re.ASCII)
    return pattern.sub(lambda found: f"{prefix}…{short_id(found[0])}", text)


def _opened(payload: bytes, token: str, keyring: Keyring) -> Opened:
    number = int.from_bytes(payload, "big")
    values: list[int] = []
    for bits in reversed(_FIELD_BITS):
        values.append(number & (1 << bits) - 1)
        number >>= bits
    seq, task, session, user, tenant = values
    return Opened(KINDS[number], seq, keyring.epoch, (tenant, user, session, task), token, keyring)


def _tag(keyring: Keyring, payload: bytes) -> bytes:
    return blake2b(payload, key=keyring.mac_key, digest_size=_TAG_BYTES).digest()


def _masked(keyring: Keyring, text: bytes, tag: bytes) -> bytes:
    mask = blake2b(tag, key=keyring.stream_key, digest_size=_PAYLOAD_BYTES).digest()
    number = int.from_bytes(text, "big") ^ int.from_bytes(mask, "big")
    return number.to_bytes(_PAYLOAD_BYTES, "big")


def _path(viewer: Scope | Sequence[str | None]) -> Sequence[str | None]:
    return viewer.path if isinstance(viewer, Scope) else viewer
