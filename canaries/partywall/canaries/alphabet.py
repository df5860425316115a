"""The token's letters: Crockford base32 in lower case, and the prefix that announces a token."""

from __future__ import annotations

from .errors import UsageError

SYMBOLS = "0123456789abcdefghjkmnpqrstvwxyz"
"""The 32 symbols of Crockford base32 (https://www.crockford.com/base32.html), lower case, in value order."""

DEFAULT_PREFIX = "mzqx7"
"""Five letters that no mixed text was seen to hold; a token begins with them."""

BODY_LENGTH = 24
BODY_BYTES = 15
SHORTEST_PREFIX = 5
LONGEST_PREFIX = 16

_VALUES = {symbol: value for value, symbol in enumerate(SYMBOLS)}
_MISREAD = str.maketrans("ilo", "110")
_PREFIX_LETTERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyz")
_HEX_LETTERS = frozenset("0123456789abcdef")


def encode_body(body: bytes) -> str:
    """15 bytes as 24 symbols, most significant first."""
    number = int.from_bytes(body, "big")
    return "".join(SYMBOLS[number >> shift & 31] for shift in range(115, -1, -5))


def canonical(text: str) -> str:
    """The one spelling of a body as people and machines may misread it: any case, `i l → 1`, `o → 0`."""
    return text.lower().translate(_MISREAD)


def decode_body(text: str) -> bytes | None:
    """The 15 bytes of 24 symbols read leniently; None where a letter is no symbol or the length is wrong."""
    letters = canonical(text)
    if len(letters) != BODY_LENGTH:
        return None
    number = 0
    for letter in letters:
        value = _VALUES.get(letter)
        if value is None:
            return None
        number = number << 5 | value
    return number.to_bytes(BODY_BYTES, "big")


def checked_prefix(prefix: str) -> str:
    """`prefix` itself, if a token may begin with it.

    Raises UsageError where it has fewer than 5 or more than 16 characters, leaves `[0-9a-z]` (escaping would
    change it), is hex only (digests would look like tokens) or letters only (a word of some language).
    """
    found = f"canary prefix {prefix!r}"
    if not isinstance(prefix, str) or not SHORTEST_PREFIX <= len(prefix) <= LONGEST_PREFIX:
        raise UsageError(f"{found} must have {SHORTEST_PREFIX} to {LONGEST_PREFIX} characters of [0-9a-z]")
    letters = frozenset(prefix)
    if not letters <= _PREFIX_LETTERS:
        strange = "".join(sorted(letters - _PREFIX_LETTERS))
        raise UsageError(f"{found} must hold [0-9a-z] only, found {strange!r}")
    if letters <= _HEX_LETTERS:
        raise UsageError(f"{found} is hex only; every digest in a log could be taken for it")
    if prefix.isalpha():
        raise UsageError(f"{found} is letters only and may be a word; put a digit into it")
    return prefix
