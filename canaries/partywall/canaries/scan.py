"""Text in, sightings out: genuine tokens in whatever dress, at one of four levels of effort.

S0 finds the prefix in lower and upper case. S1 adds constant needles for the dresses that move every letter
alike. S2 adds the skeleton: escapes undone, look-alikes folded, all else deleted. S3 decodes what is encoded,
compressed or streamed in pieces, and reads that at S2. Nothing is registered: a token opens by its keyring.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from .alphabet import BODY_LENGTH, DEFAULT_PREFIX, checked_prefix
from .canary import Opened, open_body
from .errors import UsageError
from .finder import Finder
from .keyring import Keyring
from .needles import dressed_needles, plain_needles
from .skeleton import views
from .unpack import DEPTH, Allowance, Place, still_packed, unpack

LEVELS = ("S0", "S1", "S2", "S3")
MOST_SIGHTINGS = 100_000
"""Sightings, and damaged places, kept of one scan; a scan that had more says that it was limited."""

_WINDOW = 1 << 16
_OVERLAPS = {"S0": 0, "S1": 64, "S2": 2048, "S3": 2048}
_REMEMBERED = 4096
_REDACTED = "…".encode()
_CONTINUATIONS = bytes(range(0x80, 0xC0))


@dataclass(frozen=True, slots=True)
class Sighting:
    """One genuine token at one place: its raw span is [`start`, `end`), in the unit that `Scan.unit` names.

    `chain` lists the decoders from the outside in, empty for a plain token; `level` is the lowest to see it.
    """

    opened: Opened
    start: int
    end: int
    chain: tuple[str, ...]
    level: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan saw: `sightings` by place, each place once; prefixes with a broken body as `damaged`.

    `unit` is `byte` where bytes were handed in, `character` where text was. `limited` tells that a bound was
    hit, so that what was not seen proves nothing.
    """

    sightings: tuple[Sighting, ...]
    damaged: int
    unit: str
    limited: bool = False

    def redact(self, text: str) -> str:
        """The scanned text with the raw span of every sighting replaced by `…` and the token's short id."""
        pieces: list[str] = []
        done = 0
        for one in self.sightings:
            if one.start >= done:
                pieces += (text[done : one.start], f"…{one.opened.short}")
            done = max(done, one.end)
        return "".join((*pieces, text[done:]))


class Scanner:
    """Needles and views of one prefix and its keyrings, built once for many scans.

    Raises UsageError where the prefix is refused or the level is none of S0, S1, S2, S3. Scanning itself
    never raises, whatever the text holds, and its cost is linear in the text's length.
    """

    __slots__ = ("_finder", "_opened", "keyrings", "level", "prefix")

    def __init__(self, keyrings: Sequence[Keyring], *, level: str = "S2", prefix: str = DEFAULT_PREFIX) -> None:
        if level not in LEVELS:
            raise UsageError(f"no scan level {level!r}; known: {', '.join(LEVELS)}")
        self.prefix = checked_prefix(prefix)
        self.keyrings = tuple(keyrings)
        self.level = level
        dressed = () if level == "S0" else dressed_needles(prefix)
        self._finder = Finder(plain_needles(prefix) + dressed)
        self._opened: dict[str, Opened | None] = {}

    def scan(self, text: str | bytes) -> Scan:
        """All sightings in `text`. Spans count characters of a `str` and bytes of `bytes`."""
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        ledger = _Ledger()
        self._search(data, 0, ledger)
        found = ledger.close()
        if isinstance(text, bytes):
            return found
        counted = found.sightings if len(data) == len(text) else _in_characters(data, found.sightings)
        return replace(found, sightings=counted, unit="character")

    def chunks(self, chunks: Iterable[bytes]) -> Scan:
        """All sightings in a stream of bytes, spans counted from its start.

        The end of what was read is read again with what follows (28 bytes at S0, more for longer dresses), so
        that no token is lost between chunks. What S3 decodes must lie within one 64 KiB stretch or chunk.
        """
        overlap = len(self.prefix) + BODY_LENGTH - 1 + _OVERLAPS[self.level]
        ledger = _Ledger()
        held = bytearray()
        base = fresh = 0
        for chunk in chunks:
            held += chunk
            fresh += len(chunk)
            if fresh >= _WINDOW:
                self._search(bytes(held), base, ledger)
                base += max(len(held) - overlap, 0)
                del held[:-overlap]
                fresh = 0
        if fresh:
            self._search(bytes(held), base, ledger)
        return ledger.close()

    def _search(self, data: bytes, base: int, ledger: _Ledger) -> None:
        def place(start: int, end: int) -> tuple[int, int]:
            return base + start, base + end

        self._find(data, place, (), None, ledger)
        if self.level in ("S2", "S3"):
            self._view(data, place, (), "S2", ledger)
        if self.level == "S3":
            allowance = Allowance()
            self._dig(data, place, (), allowance, ledger)
            ledger.limited |= allowance.exceeded

    def _find(self, data: bytes, place: Place, chain: tuple[str, ...], level: str | None, ledger: _Ledger) -> None:
        after = len(self.prefix)
        for at, needle in self._finder.search(data):
            body, start, end = needle.read(data, at)
            opened = self._open(body)
            if opened is not None:
                seen = level or ("S1" if needle.chain else "S0")
                ledger.enter(opened, *place(start, end), chain + needle.chain, seen)
            elif needle.telling and not data.startswith(_REDACTED, at + after):
                ledger.miss(place(start, end)[0])

    def _view(self, data: bytes, place: Place, chain: tuple[str, ...], level: str, ledger: _Ledger) -> None:
        prefix = self.prefix.encode("ascii")
        for low in range(0, len(data), _WINDOW):
            text = data[low : low + _WINDOW + _OVERLAPS["S2"]].decode("utf-8", "surrogateescape")
            for view in views(text):
                skeleton = view.skeleton
                at = skeleton.find(prefix)
                while at >= 0:
                    end = min(at + len(prefix) + BODY_LENGTH, len(skeleton))
                    opened = self._open(skeleton[at + len(prefix) : end].decode("ascii"))
                    if opened is None and ledger.overrun:
                        break
                    first, last, decoders = view.locate(at, end)
                    start = low + _byte_length(text, 0, first)
                    if opened is not None:
                        span = place(start, start + _byte_length(text, first, last))
                        ledger.enter(opened, *span, chain + decoders, level)
                    elif text[first : first + len(prefix)].lower() != self.prefix:
                        ledger.miss(place(start, start + 1)[0])
                    at = skeleton.find(prefix, at + 1)

    def _dig(self, data: bytes, place: Place, chain: tuple[str, ...], allowance: Allowance, ledger: _Ledger) -> None:
        for payload in unpack(data, allowance):
            inner = _within(place, payload.place)
            labels = (*chain, payload.label)
            self._find(payload.data, inner, labels, "S3", ledger)
            if not payload.plain:
                self._view(payload.data, inner, labels, "S3", ledger)
            if len(labels) < DEPTH:
                self._dig(payload.data, inner, labels, allowance, ledger)
            elif still_packed(payload.data):
                ledger.limited = True

    def _open(self, body: str) -> Opened | None:
        if body not in self._opened:
            if len(self._opened) >= _REMEMBERED:
                self._opened.clear()
            self._opened[body] = open_body(body, self.keyrings, self.prefix)
        return self._opened[body]


def scan(text: str | bytes, keyrings: Sequence[Keyring], *, level: str = "S2", prefix: str = DEFAULT_PREFIX) -> Scan:
    """One scan of one text; build a `Scanner` where there are many. Raises UsageError as `Scanner` does."""
    return Scanner(keyrings, level=level, prefix=prefix).scan(text)


@dataclass(slots=True)
class _Ledger:
    """Sightings and damaged places of one scan, each place once."""

    sightings: list[Sighting] = field(default_factory=list)
    damaged: set[int] = field(default_factory=set)
    spans: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    limited: bool = False

    def enter(self, opened: Opened, start: int, end: int, chain: tuple[str, ...], level: str) -> None:
        # Lower levels look first, so the first to see a token at a place has the shortest way to it.
        spans = self.spans.setdefault(opened.token, [])
        after = bisect_right(spans, (start, end))
        if (after and spans[after - 1][1] > start) or (after < len(spans) and spans[after][0] < end):
            return
        if len(self.sightings) >= MOST_SIGHTINGS:
            self.limited = True
            return
        insort(spans, (start, end))
        self.sightings.append(Sighting(opened, start, end, chain, level))

    @property
    def overrun(self) -> bool:
        """Whether so many places are damaged that one more is not worth locating."""
        return len(self.damaged) >= MOST_SIGHTINGS

    def miss(self, start: int) -> None:
        if self.overrun:
            self.limited = True
        else:
            self.damaged.add(start)

    def close(self) -> Scan:
        self.sightings.sort(key=lambda one: (one.start, one.end))
        # A token broken for one level and whole for a higher one is not damaged; sightings may nest, so ends
        # are made to ascend before they are searched.
        starts = [one.start for one in self.sightings]
        ends: list[int] = []
        for one in self.sightings:
            ends.append(max(one.end, ends[-1] if ends else 0))
        broken = sum(not (at := bisect_right(starts, miss)) or ends[at - 1] <= miss for miss in self.damaged)
        return Scan(tuple(self.sightings), broken, "byte", self.limited)


def _within(outer: Place, inner: Place) -> Place:
    return lambda start, end: outer(*inner(start, end))


def _byte_length(text: str, start: int, end: int) -> int:
    return end - start if text.isascii() else len(text[start:end].encode("utf-8", "surrogateescape"))


def _in_characters(data: bytes, sightings: Sequence[Sighting]) -> tuple[Sighting, ...]:
    marks = sorted({mark for one in sightings for mark in (one.start, one.end)})
    counted: dict[int, int] = {}
    done = characters = 0
    for mark in marks:
        characters += len(data[done:mark].translate(None, _CONTINUATIONS))
        counted[mark], done = characters, mark
    return tuple(replace(one, start=counted[one.start], end=counted[one.end]) for one in sightings)
