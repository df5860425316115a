"""Canaries of one test: minted, sown and found again under a keyring of the test's own."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from partywall.canaries import Canary, Keyring, Level, Mint, Scanner, Scope, UsageError, redact_tokens, sow

from ..errors import ContractError
from ..judge.testimony import named
from ..plan.contract import LimitHit, plain
from ..plan.leaves import leaves

_KINDS = {"message": "message", "document": "document", "fact": "fact", "tool_result": "tool", "artifact": "artifact"}
_MARGIN = 60
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Found:
    """A canary of this test that stood in a snippet. `decoded` lists what it wore, from the outside in."""

    canary: Canary
    place: str
    excerpt: str
    decoded: tuple[str, ...] = ()

    def crosses(self, observer: Scope) -> Level | None:
        """The outermost level at which `observer` parts from the owner, where that puts it outside the reach.

        An observer is as deep as it is named: who names tenant and user only sees all sessions of that user.
        """
        deepest = max(level for level in Level if observer.path[level - 1])
        parted = self.canary.owner.boundary(observer)
        return parted if parted is not None and parted <= min(deepest, self.canary.reach["*"]) else None


class Canaries:
    """Mints, sows and finds the canaries of one test; another test's are nothing to it.

    A canary reaches, by default, as deep as its owner is named: of `Scope("acme", "ann", "s1")`, every task of that
    session may see it. `reach` makes it wider: `reach=Level.USER`, or `"user"`.
    """

    def __init__(self, test: str, seed: int) -> None:
        digest = sha256(f"partywall pytest {seed} {test}".encode("utf-8", "surrogatepass")).digest()
        keyring = Keyring.derive(digest, "pytest")
        self._mint = Mint(keyring)
        self._scanner = Scanner([keyring], level="S3")
        self._rng = random.Random(digest)
        self._minted: dict[str, Canary] = {}
        self._planted: dict[Scope, int] = {}

    def mint(self, owner: Scope, kind: str = "message", reach: Level | str | None = None) -> Canary:
        """A new canary of `owner`; its `text` is what to plant. UsageError for a kind or level that is not known."""
        seq = self._planted.get(owner, 0)
        canary = self._mint.canary(owner, {"*": _level(owner, reach)}, kind, seq)
        self._planted[owner] = seq + 1
        self._minted[canary.text] = canary
        return canary

    def sow(self, owner: Scope, into: str = "message", reach: Level | str | None = None) -> str:
        """Plausible text that holds a new canary of `owner`: a message, document, fact, tool_result or artifact."""
        return sow(self.mint(owner, _KINDS.get(into, "other"), reach).text, into, self._rng)

    def scan(self, snippets: Any) -> tuple[Found, ...]:
        """Every canary of this test in text, bytes, or lists and mappings of them, in whatever dress; else nothing.

        Raises UsageError for what is no text and holds none, and where a bound of the scanner was hit.
        """
        return self.look(snippets)[0]

    def look(self, snippets: Any) -> tuple[tuple[Found, ...], int]:
        """What `scan` gives, and how many characters of text were looked at."""
        found: list[Found] = []
        looked = 0
        for place, text in _texts(snippets):
            looked += len(text)
            scan = self._scanner.scan(text)
            if scan.limited:
                raise UsageError(
                    f"snippet {place or 'text'} hit a bound of the scanner: what was not seen proves nothing"
                )
            for one in scan.sightings:
                canary = self._minted.get(one.opened.token)
                if canary is not None:
                    excerpt = text[max(0, one.start - _MARGIN) : one.end + _MARGIN]
                    found.append(Found(canary, place, self._redacted(excerpt), one.chain))
        return tuple(found), looked

    def foreign_to(self, observer: Scope) -> bool:
        """Whether any canary was minted that `observer` may not see: without one, nothing can be found."""
        return any(Found(canary, "", "").crosses(observer) for canary in self._minted.values())

    def __repr__(self) -> str:
        return f"<{len(self._minted)} canaries of {len(self._planted)} owners>"

    def _redacted(self, text: str) -> str:
        return redact_tokens(self._scanner.scan(text).redact(text))


def assert_no_foreign(canaries: Canaries, snippets: Any, observer: Scope, allow_empty: bool = False) -> None:
    """AssertionError, in testimony, where a snippet holds a canary that `observer` may not see.

    Also where that could not have been found: no text was looked at (`allow_empty=True` lets that pass), or nobody
    but the observer has a canary. UsageError for an observer that is no scope.
    """
    __tracebackhide__ = True
    if not isinstance(observer, Scope):
        raise UsageError(f"observer must be a Scope, got {type(observer).__name__}")
    found, looked = canaries.look(snippets)
    leaks = [(one, level) for one in found if (level := one.crosses(observer)) is not None]
    if leaks:
        raise AssertionError(_testimony(leaks, observer))
    if not looked and not allow_empty:
        raise AssertionError(
            "inconclusive: nothing was scanned, and no text cannot hold a canary; "
            "allow_empty=True where nothing is the right answer"
        )
    if looked and not canaries.foreign_to(observer):
        raise AssertionError(
            f"inconclusive: no canary foreign to {named(observer.path)} was minted in this test, so none could be "
            "found; sow one for another owner first: canaries.sow(owner)"
        )


def _testimony(leaks: list[tuple[Found, Level]], observer: Scope) -> str:
    lines = []
    for one, level in leaks[:_SHOWN]:
        wearing = f", wearing {' → '.join(one.decoded)}" if one.decoded else ""
        lines.append(
            f"PW10{int(level)} {named(observer.path)} was shown {named(one.canary.owner.path)}'s canary "
            f"{one.canary.short} in snippet {one.place or 'text'}{wearing}: crossed {level.name}"
        )
        lines.append(f"  evidence  “{' '.join(one.excerpt.split())}”")
    if len(leaks) > _SHOWN:
        lines.append(f"and {len(leaks) - _SHOWN} more")
    codes = sorted({f"PW10{int(level)}" for _, level in leaks})
    return "\n".join([*lines, *(f"explain     partywall explain {code}" for code in codes)])


def _texts(snippets: Any) -> list[tuple[str, str]]:
    try:
        return list(leaves(plain(snippets)))
    except (ContractError, LimitHit) as error:
        told = str(error).removeprefix("returned ")
        raise UsageError(f"cannot scan {told}; give text, bytes, or lists and mappings of them") from None


def _level(owner: Scope, reach: Level | str | None) -> Level:
    if reach is None:
        return max(level for level in Level if owner.path[level - 1])
    known: Mapping[str, Level] = {level.label: level for level in Level}
    if not isinstance(reach, Level) and reach not in known:
        raise UsageError(f"no level {reach!r}; known: {', '.join(known)}")
    return reach if isinstance(reach, Level) else known[reach]
