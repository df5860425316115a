"""A Brotli stream (RFC 7932) of one meta-block, written without a Brotli library.

It exists to show what a scan cannot see: the letters stand there bit-reversed and off byte boundaries, and
nothing in the bytes announces them. It saves no space.
"""

from __future__ import annotations

LONGEST = 1 << 16
_INSERT_BITS = (0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 12, 14, 24)
_CELLS = (0, 256, 448)


def brotli(content: bytes) -> bytes:
    """`content` (1 to 65,536 bytes) as a complete Brotli stream."""
    fields: list[tuple[int, int]] = [
        (0, 1),  # window of 64 KiB
        (0b01, 2),  # the last meta-block, not empty
        (0, 2),
        (len(content) - 1, 16),
        (0, 3),  # one block type each for literals, commands and distances
        (0, 6),  # no postfix bits, no direct distances
        (0, 2),
        (0, 2),  # one tree each for literals and distances
        (0, 2),  # literals: a complex code, in which only the code length 8 occurs, so that all 256 have it
        *((0, 2) for _ in range(10)),
        (0b10, 2),
        *((0, 2) for _ in range(7)),
    ]
    code, base = 0, 0
    while code < len(_INSERT_BITS) - 1 and base + (1 << _INSERT_BITS[code]) <= len(content):
        base += 1 << _INSERT_BITS[code]
        code += 1
    command = _CELLS[code >> 3] | (code & 7) << 3
    fields += [(1, 2), (0, 2), (command, 10), (1, 2), (0, 2), (0, 6)]
    fields.append((len(content) - base, _INSERT_BITS[code]))
    fields += [(int(f"{letter:08b}"[::-1], 2), 8) for letter in content]
    number = length = 0
    for value, bits in fields:
        number |= value << length
        length += bits
    return number.to_bytes(-(-length // 8), "little")
