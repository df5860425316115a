"""The constant needles of a prefix, dress by dress, and how the letters of a body are read behind each."""

from __future__ import annotations

import binascii
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass

from .alphabet import BODY_LENGTH

Reading = tuple[str, int, int]
"""The letters where a body should be, and the raw span (start, end) in bytes of the whole mark."""

_LONGEST_WRAP = 8
_BLANKS = b" \t\r\n"
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_ROT13 = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"nopqrstuvwxyzabcdefghijklmNOPQRSTUVWXYZABCDEFGHIJKLM",
)


@dataclass(frozen=True, slots=True)
class Needle:
    """One constant that announces a mark in one dress.

    `read(data, position)` gives what stands behind a hit at `position`. `telling` is False where the needle
    is so unlikely a dress that a hit without a genuine body says nothing about damage.
    """

    pattern: bytes
    chain: tuple[str, ...]
    read: Callable[[bytes, int], Reading]
    telling: bool = True


def plain_needles(prefix: str) -> tuple[Needle, ...]:
    """Level S0: the prefix in lower and in upper case."""
    length = len(prefix)

    def read(data: bytes, at: int) -> Reading:
        end = at + length + BODY_LENGTH
        return data[at + length : end].decode("latin-1"), at, min(end, len(data))

    return tuple(Needle(pattern, (), read) for pattern in _cases(prefix))


def dressed_needles(prefix: str) -> tuple[Needle, ...]:
    """Level S1 beyond S0: hex, base64 at three alignments, UTF-16, reversed, ROT13, in both cases."""
    lower, upper = _cases(prefix)
    found = [
        Needle(lower.hex().encode(), ("hex",), _hex_reader(len(prefix))),
        Needle(lower.hex().upper().encode(), ("hex",), _hex_reader(len(prefix))),
    ]
    for marker in (lower, upper):
        found += _base64_needles(marker)
        found += (
            Needle(marker.decode().encode("utf-16-le")[:-1], ("utf-16",), _read_utf16(marker)),
            Needle(marker[::-1], ("reversed",), _read_reversed(marker), telling=False),
            Needle(marker.translate(_ROT13), ("rot13",), _read_rot13(marker), telling=False),
        )
    return tuple(found)


def _cases(prefix: str) -> tuple[bytes, bytes]:
    return prefix.encode("ascii"), prefix.upper().encode("ascii")


def _hex_reader(length: int) -> Callable[[bytes, int], Reading]:
    def read(data: bytes, at: int) -> Reading:
        end = at + 2 * (length + BODY_LENGTH)
        digits = data[at + 2 * length : end]
        try:
            return binascii.unhexlify(digits).decode("latin-1"), at, min(end, len(data))
        except binascii.Error:
            return "", at, min(end, len(data))

    return read


def _base64_needles(marker: bytes) -> list[Needle]:
    found = []
    for shift in range(3):
        # Only the characters whose six bits all belong to the prefix are the same in every text.
        first, last = -(-8 * shift // 6), 8 * (shift + len(marker)) // 6
        pattern = b64encode(b"\0" * shift + marker + b"\0\0\0")[first:last]
        read = _base64_reader(len(marker), shift, first)
        found.append(Needle(pattern, ("base64",), read))
        url_safe = pattern.translate(bytes.maketrans(b"+/", b"-_"))
        if url_safe != pattern:
            found.append(Needle(url_safe, ("base64",), read))
    return found


def _base64_reader(length: int, shift: int, first: int) -> Callable[[bytes, int], Reading]:
    whole = shift + length + BODY_LENGTH
    wanted = -(-8 * whole // 6) - first

    def read(data: bytes, at: int) -> Reading:
        window = data[at : at + wanted + _LONGEST_WRAP]
        letters = window.translate(_URL_SAFE, _BLANKS)[:wanted]
        end = at + len(window) if len(letters) < wanted else at + _raw_length(window, wanted)
        # What stood before the needle holds no bit of the body, and may lie beyond the start of the data.
        quanta = b"A" * first + letters.rstrip(b"=")
        try:
            decoded = binascii.a2b_base64(quanta + b"A" * (-len(quanta) % 4), strict_mode=True)
        except binascii.Error:
            return "", at, end
        return decoded[shift + length : whole].decode("latin-1"), at, end

    return read


def _raw_length(window: bytes, wanted: int) -> int:
    for length in range(wanted, len(window) + 1):
        if length - sum(window.count(blank, 0, length) for blank in _BLANKS) == wanted:
            return length
    return len(window)


def _read_utf16(marker: bytes) -> Callable[[bytes, int], Reading]:
    length = len(marker)

    def read(data: bytes, at: int) -> Reading:
        end = at + 2 * (length + BODY_LENGTH) - 1
        return data[at + 2 * length : end : 2].decode("latin-1"), at, min(end, len(data))

    return read


def _read_reversed(marker: bytes) -> Callable[[bytes, int], Reading]:
    def read(data: bytes, at: int) -> Reading:
        start = max(at - BODY_LENGTH, 0)
        return data[start:at][::-1].decode("latin-1"), start, at + len(marker)

    return read


def _read_rot13(marker: bytes) -> Callable[[bytes, int], Reading]:
    length = len(marker)

    def read(data: bytes, at: int) -> Reading:
        end = at + length + BODY_LENGTH
        return data[at + length : end].translate(_ROT13).decode("latin-1"), at, min(end, len(data))

    return read
