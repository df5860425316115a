"""Every dress a canary can wear, each with the lowest scan level that sees through it.

The scanner's positive controls: a level that misses a carrier of its own is broken, and what no level finds
is listed as missed, because a scan that finds nothing has said nothing about those.
"""

from __future__ import annotations

import base64
import codecs
import gzip
import html
import json
import quopri
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote, unquote

from .alphabet import SYMBOLS
from .brotli_stream import brotli

Dressed = str | bytes

MISSED = "missed"
"""The level of what no scan finds."""

_CYRILLIC = str.maketrans("aceknmopxy", "асекпморху")
_FULL_WIDTH = str.maketrans({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
_WRITTEN_DOWN = str.maketrans("10", "lo")


@dataclass(frozen=True, slots=True)
class Carrier:
    """One transformation of a canary's text.

    `level` is `S0` … `S3` or `missed`. `dress` takes the text of a canary and gives what would be observed.
    `undress` gives back a text in which it stands, whatever its case; None where nothing brings it back.
    """

    name: str
    level: str
    dress: Callable[[str], Dressed]
    undress: Callable[[Dressed], str] | None


def _text(seen: Dressed) -> str:
    return seen if isinstance(seen, str) else seen.decode("utf-8")


def _raw(seen: Dressed) -> bytes:
    return seen.encode("utf-8") if isinstance(seen, str) else seen


def _without(pattern: str) -> Callable[[Dressed], str]:
    return lambda seen: re.sub(pattern, "", _text(seen))


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _twice_json(text: str) -> str:
    return json.dumps({"body": json.dumps({"note": f'he said "{text}"\n'})})


def _from_twice_json(seen: Dressed) -> str:
    return str(json.loads(json.loads(_text(seen))["body"])["note"])


def _base64_after(filler: str) -> Carrier:
    return Carrier(
        f"base64+{len(filler)}",
        "S1",
        lambda text: base64.b64encode(f"{filler}{text} ok".encode()).decode(),
        lambda seen: base64.b64decode(_raw(seen)).decode(),
    )


def _sse(text: str) -> str:
    events = []
    for piece in _pieces(text, 3):
        for index, content in enumerate((piece, "and")):
            choice = {"index": index, "delta": {"content": content}}
            events.append(f"data: {json.dumps({'id': 'chatcmpl-1', 'choices': [choice]})}\n\n")
    return "".join((*events, "data: [DONE]\n\n"))


def _from_sse(seen: Dressed) -> str:
    events = [json.loads(line[6:]) for line in _text(seen).split("\n") if line.startswith("data: {")]
    choices = [event["choices"][0] for event in events]
    return "".join(choice["delta"]["content"] for choice in choices if choice["index"] == 0)


def _altered(text: str) -> str:
    middle = len(text) // 2
    letter = text[middle]
    other = SYMBOLS[(SYMBOLS.index(letter) + 1) % len(SYMBOLS)] if letter in SYMBOLS else "0"
    return text[:middle] + other + text[middle + 1 :]


def _retold(text: str) -> str:
    return f"The reference has {len(text)} characters; it begins with {text[0]!r} and ends in {text[-1]!r}."


_ALL = (
    Carrier("plain", "S0", lambda text: text, _text),
    Carrier("json", "S0", lambda text: json.dumps({"note": text}), lambda seen: str(json.loads(seen)["note"])),
    Carrier("json2", "S0", _twice_json, _from_twice_json),
    Carrier(
        "url",
        "S0",
        lambda text: f"/find?q={quote(f'ref: {text}', safe='')}",
        lambda seen: unquote(_text(seen)),
    ),
    Carrier(
        "html",
        "S0",
        lambda text: html.escape(f'"Müller & Co" <{text}>'),
        lambda seen: html.unescape(_text(seen)),
    ),
    Carrier("markup", "S0", lambda text: f'7,"{text}",**{text}**,`{text}`', _text),
    Carrier("markdown-escaped", "S0", lambda text: f"order\\_ref: {text}\\.", _without(r"\\")),
    Carrier("lower", "S0", str.lower, _text),
    Carrier("upper", "S0", str.upper, _text),
    Carrier("misread", "S0", lambda text: text[:5] + text[5:].translate(_WRITTEN_DOWN), None),
    Carrier("deltas-assembled", "S0", lambda text: _from_sse(_sse(f"Here it is: {text}")), _text),
    _base64_after(""),
    _base64_after("x"),
    _base64_after("xy"),
    Carrier(
        "base64url",
        "S1",
        lambda text: f"https://shop.example/r/{base64.urlsafe_b64encode(f'~?{text}'.encode()).decode().rstrip('=')}",
        lambda seen: base64.urlsafe_b64decode(_raw(seen).rpartition(b"/")[2] + b"==").decode(),
    ),
    Carrier(
        "base64-mime",
        "S1",
        lambda text: base64.encodebytes(f"{'Dear all,':<40}{text}".encode()).decode(),
        lambda seen: base64.b64decode(_raw(seen)).decode(),
    ),
    Carrier("hex", "S1", lambda text: text.encode().hex(), lambda seen: bytes.fromhex(_text(seen)).decode()),
    Carrier(
        "hex-upper",
        "S1",
        lambda text: text.encode().hex().upper(),
        lambda seen: bytes.fromhex(_text(seen)).decode(),
    ),
    Carrier("utf-16le", "S1", lambda text: text.encode("utf-16-le"), lambda seen: _raw(seen).decode("utf-16-le")),
    Carrier("utf-16be", "S1", lambda text: text.encode("utf-16-be"), lambda seen: _raw(seen).decode("utf-16-be")),
    Carrier("reversed", "S1", lambda text: text[::-1], lambda seen: _text(seen)[::-1]),
    Carrier(
        "rot13",
        "S1",
        lambda text: codecs.encode(text, "rot13"),
        lambda seen: codecs.decode(_text(seen), "rot13"),
    ),
    Carrier("title", "S2", str.title, _text),
    Carrier(
        "percent",
        "S2",
        lambda text: "".join(f"%{ord(one):02X}" for one in text),
        lambda seen: unquote(_text(seen)),
    ),
    Carrier(
        "unicode-escape",
        "S2",
        lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
        lambda seen: _raw(seen).decode("unicode_escape"),
    ),
    Carrier(
        "unicode-escape2",
        "S2",
        lambda text: "".join(f"\\\\u{ord(one):04x}" for one in text),
        lambda seen: _raw(seen).replace(b"\\\\", b"\\").decode("unicode_escape"),
    ),
    Carrier(
        "entities",
        "S2",
        lambda text: "".join(f"&#x{ord(one):x};" for one in text),
        lambda seen: html.unescape(_text(seen)),
    ),
    Carrier(
        "quoted-printable",
        "S2",
        lambda text: f"Gr=C3=BC=C3=9Fe, {text[:10]}=\r\n{text[10:]}",
        lambda seen: quopri.decodestring(_raw(seen)).decode(),
    ),
    Carrier("spaced", "S2", " ".join, _without(" ")),
    Carrier("groups-of-4", "S2", lambda text: " ".join(_pieces(text, 4)), _without(" ")),
    Carrier("hyphenated", "S2", lambda text: "-\n".join(_pieces(text, 11)), _without("-\n")),
    Carrier(
        "json-wrapped",
        "S2",
        lambda text: json.dumps("\n".join(_pieces(text, 9))),
        lambda seen: str(json.loads(seen)).replace("\n", ""),
    ),
    Carrier("zero-width", "S2", "\u200b".join, _without("\u200b")),
    Carrier(
        "zero-width-escaped",
        "S2",
        lambda text: json.dumps("\u200b".join(text)),
        lambda seen: str(json.loads(seen)).replace("\u200b", ""),
    ),
    Carrier("soft-hyphen", "S2", "\u00ad".join, _without("\u00ad")),
    Carrier("wbr", "S2", lambda text: "<wbr>".join(_pieces(text, 3)), _without("<wbr>")),
    Carrier("full-width", "S2", lambda text: text.translate(_FULL_WIDTH), None),
    Carrier("cyrillic", "S2", lambda text: text.translate(_CYRILLIC), None),
    Carrier(
        "base64-base64",
        "S3",
        lambda text: base64.b64encode(base64.b64encode(f"ref {text}".encode())).decode(),
        lambda seen: base64.b64decode(base64.b64decode(_raw(seen))).decode(),
    ),
    Carrier(
        "base64-utf-16",
        "S3",
        lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
        lambda seen: base64.b64decode(_raw(seen)).decode("utf-16-le"),
    ),
    Carrier("deltas", "S3", _sse, _from_sse),
    Carrier(
        "gzip",
        "S3",
        lambda text: gzip.compress(text.encode(), mtime=0),
        lambda seen: gzip.decompress(_raw(seen)).decode(),
    ),
    Carrier(
        "zlib",
        "S3",
        lambda text: zlib.compress(text.encode()),
        lambda seen: zlib.decompress(_raw(seen)).decode(),
    ),
    Carrier(
        "gzip-base64",
        "S3",
        lambda text: base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
        lambda seen: gzip.decompress(base64.b64decode(_raw(seen))).decode(),
    ),
    # Brotli announces itself by its content encoding only; whoever reads a reply must undo that first.
    Carrier("brotli", MISSED, lambda text: brotli(text.encode()), None),
    Carrier("altered", MISSED, _altered, None),
    Carrier("first-16", MISSED, lambda text: text[:16], None),
    Carrier("last-12", MISSED, lambda text: text[-12:], None),
    Carrier("paraphrase", MISSED, _retold, None),
)

CARRIERS: Mapping[str, Carrier] = MappingProxyType({carrier.name: carrier for carrier in _ALL})
"""All carriers by name, those that a low level finds first."""
