"""The only maker of keys: every place that must carry the scope gets its key from here.

Ids are percent-encoded, so no id can hold a separator; every prefix ends with one, so `tenant-1` is no prefix
of `tenant-10`. Levels the scope leaves empty keep their (empty) segment: empty differs from every id.
"""

from __future__ import annotations

import hashlib
import json
from urllib.parse import quote

from partywall.canaries import Level, Scope

SEPARATOR = "|"
_LETTERS = ("t", "u", "s", "k")
_PATH_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_LONGEST_SEGMENT = 180
Row = tuple[str, str, str, str]


class Key(str):
    """A key that `Keys` made; caches and locks take no other text."""

    __slots__ = ()


def encode(identifier: str) -> str:
    """The id with everything but `[A-Za-z0-9_.~-]` percent-encoded: injective, not normalised."""
    return quote(identifier, safe="", encoding="utf-8", errors="surrogatepass")


def fingerprint(payload: object) -> str:
    """16 hex digits of SHA-256 over canonical JSON: stable, and independent of field order."""
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:16]


def path_segment(identifier: str) -> str:
    """The id as one name of a folder or file that no id can climb out of, or share on any file system."""
    # Lower case only: on a file system that folds case, `A` and `a` must stay two names. Dots are encoded,
    # and a name too long for a directory entry becomes its digest (`~` never stands in an encoded name).
    raw = identifier.encode("utf-8", "surrogatepass")
    text = "".join(chr(byte) if byte in _PATH_SAFE else f"%{byte:02X}" for byte in raw)
    return text if len(text) <= _LONGEST_SEGMENT else "~" + hashlib.sha256(raw).hexdigest()


class Keys:
    """Makes the keys of one deployment; `pepper` keeps a user's log mark from being guessed."""

    def __init__(self, pepper: bytes = b"") -> None:
        self._pepper = pepper

    def prefix(self, scope: Scope, level: Level) -> str:
        """The encoded scope down to `level`, with its closing separator: safe for prefix scans."""
        return "".join(_segment(scope, each) + SEPARATOR for each in Level if each <= level)

    def cache(self, scope: Scope, purpose: str, payload: object) -> Key:
        """`t<tenant>|u<user>|s<session>|k<task>|p<purpose>|h<fingerprint>`."""
        return Key(f"{self.prefix(scope, Level.TASK)}p{encode(purpose)}{SEPARATOR}h{fingerprint(payload)}")

    def cached(self, scope: Scope, level: Level, purpose: str = "") -> str:
        """What the cache keys at or below `level` begin with; of one purpose, where it is named, at the task itself."""
        prefix = self.prefix(scope, level)
        return f"{prefix}p{encode(purpose)}{SEPARATOR}" if purpose else prefix

    def lock(self, scope: Scope) -> Key:
        """One lock per *session*: its tasks share the turn numbers. ScopeError without a session."""
        return Key(self.prefix(scope.require(Level.SESSION), Level.SESSION) + "plock")

    def rate(self, scope: Scope) -> tuple[Key, Key]:
        """The tenant's key and the user's key: one tenant's rush must not spend another's allowance."""
        return Key(self.prefix(scope, Level.TENANT) + "prate"), Key(self.prefix(scope, Level.USER) + "prate")

    def row(self, scope: Scope, level: Level) -> Row:
        """The values of the four scope columns of a row that lives at `level`; empty below it."""
        tenant, user, session, task = (part if each <= level else "" for each, part in _parts(scope))
        return tenant, user, session, task

    def index(self, scope: Scope) -> Key:
        """The owner's term in the full-text index: memory belongs to tenant and user."""
        owner = "".join(encode(part) + SEPARATOR for part in self.row(scope, Level.USER))
        return Key("x" + hashlib.sha256(owner.encode("ascii")).hexdigest()[:32])

    def log(self, scope: Scope) -> Key:
        """`t<tenant>|u#<8 hex>|s<session>|k<task>`: locates a line, identifies no person."""
        return Key(self.log_prefix(scope, Level.TASK)[: -len(SEPARATOR)])

    def log_prefix(self, scope: Scope, level: Level) -> str:
        """What the log keys at or below `level` begin with, once a separator is put after each of them."""
        segments = [_segment(scope, each) for each in Level if each <= level]
        if level >= Level.USER:
            segments[1] = "u#" + self._person(scope)
        return "".join(segment + SEPARATOR for segment in segments)

    def artifact(self, scope: Scope, name: str) -> Key:
        """A relative path of five segments that no id can climb out of, or share on any file system."""
        return Key(f"{self.artifact_root(scope, Level.TASK)}/n{path_segment(name)}")

    def artifact_root(self, scope: Scope, level: Level) -> Key:
        """The folder that holds every artifact at or below `level`."""
        pairs = zip(_LETTERS, _parts(scope), strict=True)
        return Key("/".join(letter + path_segment(part) for letter, (each, part) in pairs if each <= level))

    def mark(self, scope: Scope, level: Level) -> Key:
        """A one-way mark of the scope down to `level`, for what may outlive a purge."""
        return Key("g" + hashlib.sha256(self.prefix(scope, level).encode("ascii")).hexdigest()[:32])

    def _person(self, scope: Scope) -> str:
        owner = self.prefix(scope, Level.USER).encode("ascii")
        return hashlib.blake2b(owner, key=self._pepper, digest_size=4).hexdigest()


def _parts(scope: Scope) -> list[tuple[Level, str]]:
    return list(zip(Level, scope.path, strict=True))


def _segment(scope: Scope, level: Level) -> str:
    return _LETTERS[level - 1] + encode(scope.path[level - 1])
