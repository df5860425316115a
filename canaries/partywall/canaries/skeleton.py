"""The views of level S2: escapes undone, look-alike letters folded, and all but `[a-z0-9]` deleted.

Every stage remembers where it changed the text, so that a hit in the last view has a span in the raw text.
Look-alikes follow Unicode NFKD and the confusables of UTS #39 (https://www.unicode.org/reports/tr39/).
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Edit = tuple[str, str]
"""What a piece of text is replaced by, and the name of the decoder that says so."""

ROUNDS = 3
"""How often escapes are undone: what was escaped twice and then quoted in HTML is still reached."""

_ESCAPE = re.compile(
    r"\\+(?:u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|[nrtbfv])?"
    r"|%[0-7][0-9a-fA-F]|%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){1,3}|%u[0-9a-fA-F]{4}"
    r"|&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[a-zA-Z][a-zA-Z0-9]{1,31});"
    r"|=\r?\n|=[0-7][0-9a-fA-F]|=[c-fC-F][0-9a-fA-F](?:=[89abAB][0-9a-fA-F]){1,3}"
)
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]{0,256}>")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_HEX_RUN = re.compile(r"[0-9a-fA-F]{2,}")
_BLANKED = frozenset("nrtbfv")

_KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789"
_DROPPED = bytes(set(range(256)) - set(_KEPT) - set(_KEPT.upper()))
_LOWER = bytes.maketrans(_KEPT.upper(), _KEPT)

_LOOKALIKES = str.maketrans(
    "авсԁеғһіјкӏмпорԛгѕтцѵԝхузбчαβεηικνορτυχγζμδωᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıłøđħɑɡ",
    "abcdefhijklmnopqrstuvwxy364abenikvoptuxyzmdwabcdefghijklmnoprstuvwyzilodhag",
)


class _Folds(dict[int, str]):
    """The `[a-z0-9]` that a character reads as, worked out once each: at most one entry a code point."""

    def __missing__(self, code: int) -> str:
        letters = unicodedata.normalize("NFKD", chr(code)).lower().translate(_LOOKALIKES)
        folded = ""
        for letter in letters:
            digit = unicodedata.digit(letter, None)
            plain = letter if digit is None else str(digit)
            folded += plain if plain.isascii() and plain.isalnum() else ""
        self[code] = folded
        return folded


_FOLDS = _Folds()


@dataclass(slots=True)
class Stage:
    """A rewritten text, and its edits as parallel columns in ascending order."""

    text: str
    outs: list[int] = field(default_factory=list)
    out_ends: list[int] = field(default_factory=list)
    ins: list[int] = field(default_factory=list)
    in_ends: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    def back(self, start: int, end: int) -> tuple[int, int, list[str]]:
        """Where [start, end) came from, and the decoders that had a hand in it."""
        first = bisect_right(self.outs, start) - 1
        last = bisect_right(self.outs, end - 1) - 1
        inside = first if first >= 0 and start < self.out_ends[first] else first + 1
        touched = dict.fromkeys(self.labels[inside : last + 1])
        return self._origin(start, first, ends=False), self._origin(end - 1, last, ends=True), list(touched)

    def _origin(self, at: int, edit: int, *, ends: bool) -> int:
        if edit < 0:
            return at + ends
        if at < self.out_ends[edit]:
            return self.in_ends[edit] if ends else self.ins[edit]
        return at - self.out_ends[edit] + self.in_ends[edit] + ends


@dataclass(slots=True)
class View:
    """One reading of a text: lower-case ASCII letters and digits only."""

    skeleton: bytes
    _stages: tuple[Stage, ...]
    _source: str
    _folded: Stage | None = None
    _kept: list[int] = field(default_factory=list)

    def locate(self, start: int, end: int) -> tuple[int, int, tuple[str, ...]]:
        """The span in characters of the raw text behind skeleton[start:end], and its decode chain."""
        if self._folded is None:
            self._folded = _rewritten(self._source, re.compile(r"[^\x00-\x7f]"), _folding)
            kept = frozenset((_KEPT + _KEPT.upper()).decode())
            self._kept = [at for at, letter in enumerate(self._folded.text) if letter in kept]
        first, last = self._kept[start], self._kept[end - 1] + 1
        chain = ["skeleton"] if self._folded.text[first:last].encode() != self.skeleton[start:end] else []
        for stage in (self._folded, *reversed(self._stages)):
            first, last, labels = stage.back(first, last)
            chain += reversed(labels)
        return first, last, tuple(dict.fromkeys(reversed(chain)))


def views(text: str) -> Iterator[View]:
    """The skeletons of `text`: as it stands and after each round of unescaping, with tags and without."""
    stages: tuple[Stage, ...] = ()
    current = text
    for _ in range(ROUNDS + 1):
        yield View(skeleton(current), stages, current)
        if "<" in current:
            bare = _rewritten(current, _TAG, lambda _: ("", "untag"))
            if bare.outs:
                yield View(skeleton(bare.text), (*stages, bare), bare.text)
        undone = unescape(current)
        if not undone.outs:
            return
        stages, current = (*stages, undone), undone.text


def skeleton(text: str) -> bytes:
    """The `[a-z0-9]` of a text after look-alike letters are folded."""
    if not text.isascii():
        text = _FOREIGN.sub(lambda run: run[0].translate(_FOLDS), text)
    return text.encode("ascii").translate(_LOWER, _DROPPED)


def unescape(text: str) -> Stage:
    """`text` after one round of unescaping, tags kept."""
    return _rewritten(text, _ESCAPE, _unescaping)


def _rewritten(text: str, pattern: re.Pattern[str], edit: Callable[[re.Match[str]], Edit]) -> Stage:
    stage = Stage("")
    pieces: list[str] = []
    done = length = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        replacement, label = edit(found)
        length += start - done
        stage.outs.append(length)
        length += len(replacement)
        stage.out_ends.append(length)
        stage.ins.append(start)
        stage.in_ends.append(end)
        stage.labels.append(label)
        pieces += (text[done:start], replacement)
        done = end
    stage.text = "".join((*pieces, text[done:])) if pieces else text
    return stage


def _folding(found: re.Match[str]) -> Edit:
    return _FOLDS[ord(found[0])], "nfkc"


def _unescaping(found: re.Match[str]) -> Edit:
    whole = found[0]
    match whole[0]:
        case "\\":
            return _unescaped_backslash(whole), "unescape:json"
        case "&":
            return html.unescape(whole), "unescape:html"
        case "%" if whole[1] == "u":
            return chr(int(whole[2:], 16)), "unescape:url"
        case "%":
            return _octets(whole), "unescape:url"
        case _ if whole[-1] == "\n":
            return "", "unescape:quoted-printable"
    return _octets(whole), "unescape:quoted-printable"


def _unescaped_backslash(whole: str) -> str:
    tail = whole.lstrip("\\")
    if not tail:
        return ""
    if tail in _BLANKED:
        return "\n"
    units = [int(digits, 16) for digits in _HEX_RUN.findall(tail)]
    if len(units) == 2:
        return chr(0x10000 + (units[0] - 0xD800 << 10) + units[1] - 0xDC00)
    return chr(units[0]) if units and units[0] <= 0x10FFFF else ""


def _octets(whole: str) -> str:
    return bytes.fromhex(whole.replace(whole[0], "")).decode("utf-8", "replace")
