"""What level S3 looks into: encoded runs, compressed blocks, UTF-16 and streams that arrived in pieces."""

from __future__ import annotations

import binascii
import json
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .skeleton import Stage, unescape

Place = Callable[[int, int], tuple[int, int]]
"""Maps a span of bytes within something decoded to the span it came from."""

DEPTH = 4
OUTPUT_LIMIT = 64 << 20
"""Bytes that one scan may decode in all; a bomb ends here and the scan says that it was limited."""

_INFLATE_LIMIT = 8 << 20
_INFLATE_ATTEMPTS = 1024
_INFLATE_STEP = 16 << 10
_SHORTEST_CODED = 38  # what 29 bytes, the shortest token, take in base64; compressed they take more
_LONGEST_SHIFTED = 64 << 10
_TEXT_STEP = 1 << 20
_TEXT_OVERLAP = 64 << 10

_MAGIC = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{20,}+(?:\r?\n[ \t]?[A-Za-z0-9+/_-]{4,}+)*+={0,2}")
_HEX = re.compile(rb"[0-9a-fA-F]{58,}+|[0-9a-fA-F]{2}(?:[ :,-][0-9a-fA-F]{2}){28,}+")
_UTF16 = (
    ("utf-16-le", re.compile(rb"(?:[^\x00][\x00-\x05\x20\xff]){16,}+")),
    ("utf-16-be", re.compile(rb"(?:[\x00-\x05\x20\xff][^\x00]){16,}+")),
)
_EVENT = re.compile(rb"^(?:data:[ ]?)?(\{.*\})[ \t\r]*$", re.MULTILINE)
_STANDARD = bytes.maketrans(b"-_", b"+/")
_BLANKS = b" \t\r\n"
_NO_HEX = bytes(set(range(256)) - set(b"0123456789abcdefABCDEF"))
_NUMBERED = ("id", "item_id", "index", "output_index", "content_index")


@dataclass(slots=True)
class Allowance:
    """How many bytes may still be decoded, and whether something was left undone for want of them."""

    left: int = OUTPUT_LIMIT
    exceeded: bool = False

    def take(self, size: int) -> bool:
        """Whether `size` more bytes may be decoded."""
        if size > self.left:
            self.exceeded = True
            return False
        self.left -= size
        return True


@dataclass(frozen=True, slots=True)
class Payload:
    """Something decoded: its bytes, by what, and where each of them came from.

    `plain` is True for text that merely lost its escapes, which level S2 has read already.
    """

    data: bytes
    label: str
    place: Place
    plain: bool = False


def unpack(data: bytes, allowance: Allowance) -> Iterator[Payload]:
    """All that can be decoded out of `data` in one step, within the allowance."""
    for decoder in (_inflated, _from_base64, _from_hex, _from_utf16, _reassembled, _without_escapes):
        for payload in decoder(data, allowance):
            if not allowance.take(len(payload.data)):
                return
            yield payload


def still_packed(data: bytes) -> bool:
    """Whether the whole of `data` looks encoded or compressed, so that a deeper look might find more."""
    long = len(data) >= _SHORTEST_CODED
    return long and bool(_MAGIC.match(data) or _BASE64.fullmatch(data) or _HEX.fullmatch(data))


def _inflated(data: bytes, allowance: Allowance) -> Iterator[Payload]:
    at = 0
    for _ in range(_INFLATE_ATTEMPTS):
        magic = _MAGIC.search(data, at)
        if magic is None:
            return
        start = magic.start()
        content, end = _inflate(data, start, min(_INFLATE_LIMIT, allowance.left), allowance)
        if content:
            label = "gzip" if data[start] == 0x1F else "zlib"
            yield Payload(content, label, _whole(start, end))
        at = max(end if content else 0, start + 1)
    allowance.exceeded = True


def _inflate(data: bytes, start: int, limit: int, allowance: Allowance) -> tuple[bytes, int]:
    machine = zlib.decompressobj(wbits=47)
    content = bytearray()
    at = start
    try:
        while at < len(data) and not machine.eof:
            step = data[at : at + _INFLATE_STEP]
            at += len(step)
            while step and len(content) < limit:
                content += machine.decompress(step, limit - len(content))
                step = machine.unconsumed_tail
            if step:
                allowance.exceeded = True
                break
    except zlib.error:
        pass  # What came out before the damage is still worth reading.
    return bytes(content), at - len(machine.unused_data)


def _from_base64(data: bytes, _: Allowance) -> Iterator[Payload]:
    for run in _BASE64.finditer(data):
        letters = run[0].translate(_STANDARD, _BLANKS).rstrip(b"=")
        if len(letters) < _SHORTEST_CODED:
            continue
        wrapped = len(letters) < len(run[0].rstrip(b"="))
        # Words glued to its front move a run off its alignment; a long run is taken to begin where it begins.
        for shift in range(4 if len(letters) <= _LONGEST_SHIFTED else 1):
            quanta = letters[shift:]
            quanta = quanta[: len(quanta) - (len(quanta) % 4 == 1)]
            content = binascii.a2b_base64(quanta + b"=" * (-len(quanta) % 4))
            start, end = run.span()
            place = _whole(start, end) if wrapped else _scaled(start + shift, end, 4, 3)
            yield Payload(content, "base64", place)


def _from_hex(data: bytes, _: Allowance) -> Iterator[Payload]:
    for run in _HEX.finditer(data):
        digits = run[0].translate(None, _NO_HEX)
        start, end = run.span()
        step = 2 if len(digits) == len(run[0]) else 3
        for shift in range(2 if step == 2 else 1):
            pairs = digits[shift : len(digits) - (len(digits) - shift) % 2]
            yield Payload(binascii.unhexlify(pairs), "hex", _scaled(start + shift, end, step, 1))


def _from_utf16(data: bytes, _: Allowance) -> Iterator[Payload]:
    if b"\0" not in data:
        return
    for codec, pattern in _UTF16:
        for run in pattern.finditer(data):
            content = run[0].decode(codec, "replace").encode("utf-8", "surrogatepass")
            start, end = run.span()
            simple = 2 * len(content) == len(run[0])
            yield Payload(content, codec, _scaled(start, end, 2, 1) if simple else _whole(start, end))


def _reassembled(data: bytes, _: Allowance) -> Iterator[Payload]:
    streams: dict[tuple[Any, ...], list[tuple[str, int, int]]] = {}
    for event in _EVENT.finditer(data):
        try:
            record = json.loads(event[1])
        except (ValueError, RecursionError):
            continue
        for path, piece in _leaves(record):
            streams.setdefault(path, []).append((piece, *event.span(1)))
    for pieces in streams.values():
        if len(pieces) > 1:
            content = [piece.encode("utf-8", "surrogatepass") for piece, _, _ in pieces]
            yield Payload(b"".join(content), "deltas", _pieced(content, [span for _, *span in pieces]))


def _leaves(record: object) -> Iterator[tuple[tuple[Any, ...], str]]:
    # The path names stream and choice, so that interleaved answers are put together one by one.
    waiting: list[tuple[tuple[Any, ...], object]] = [((), record)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            numbered = tuple(value[name] for name in _NUMBERED if isinstance(value.get(name), int | str))
            waiting += [((*path, *numbered, name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, None if _is_numbered(one) else at), one) for at, one in enumerate(value)]


def _is_numbered(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("index"), int)


def _without_escapes(data: bytes, _: Allowance) -> Iterator[Payload]:
    for low in range(0, len(data), _TEXT_STEP):
        text = data[low : low + _TEXT_STEP + _TEXT_OVERLAP].decode("utf-8", "surrogateescape")
        stage = unescape(text)
        if stage.outs:
            content = stage.text.encode("utf-8", "surrogatepass")
            yield Payload(content, "unescape", _escaped(low, text, content, stage), plain=True)


def _escaped(low: int, text: str, content: bytes, stage: Stage) -> Place:
    def place(start: int, end: int) -> tuple[int, int]:
        first = len(content[:start].decode("utf-8", "ignore"))
        last = first + max(len(content[start:end].decode("utf-8", "ignore")), 1)
        first, last, _ = stage.back(first, last)
        before = len(text[:first].encode("utf-8", "surrogateescape"))
        return low + before, low + before + len(text[first:last].encode("utf-8", "surrogateescape"))

    return place


def _whole(start: int, end: int) -> Place:
    return lambda _, __: (start, end)


def _scaled(start: int, end: int, coded: int, plain: int) -> Place:
    def place(first: int, last: int) -> tuple[int, int]:
        return min(start + first * coded // plain, end), min(start - (-last * coded // plain), end)

    return place


def _pieced(content: list[bytes], spans: list[list[int]]) -> Place:
    starts = [0]
    for piece in content:
        starts.append(starts[-1] + len(piece))

    def place(first: int, last: int) -> tuple[int, int]:
        final = min(bisect_right(starts, last - 1), len(spans)) - 1
        return spans[bisect_right(starts, first) - 1][0], spans[final][1]

    return place
