"""What a name names: the tenant, the user, the session, the task, the content of a request, or some id.

The last word of a name is its noun, once words that go with every noun are taken off: `user_id` names a user,
`user_query` a query, `user_dir` a folder and so nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache


class Dimension(Enum):
    """A dimension of a key that a part of it may stand for."""

    TENANT = "tenant"
    USER = "user"
    SESSION = "session"
    TASK = "task"
    CONTENT = "request content"
    ID = "id"


@dataclass(frozen=True, slots=True)
class Named:
    """What a name stands for. `sure` is false where the same word is common for what is nobody's (`text`, `doc_id`).

    `several`: all of them or their number (`sessions`), which names nobody until one is taken out.
    """

    dimension: Dimension
    sure: bool
    several: bool = False


def every(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_NOUNS = {
    Dimension.TENANT: "tenant org organization organisation account acct workspace company merchant team",
    Dimension.USER: "user uid username customer email employee person patient owner principal login userid",
    Dimension.SESSION: "session sid thread conversation conv chat dialog dialogue sessionid",
    Dimension.TASK: "task job",
    Dimension.CONTENT: "question query prompt utterance",
}
_NOUN = {word: dimension for dimension, words in _NOUNS.items() for word in words.split()}
_SOFT = every("text content input body message msg payload q string")
_MAKES_SOFT_SURE = every("question query prompt user request input chat")
# Words that stand behind any noun without changing what is named.
_BEHIND = every(
    "id ids key keys name names uuid guid slug hash digest str value ref handle pk oid hex sha md5 normalized "
    "normalised lower encoded quoted hashed clean cleaned stripped raw safe escaped b64"
)
_IDS = every("id ids uuid guid pk oid tid")
# Ids of machines and of code are nobody's.
_MACHINES = every(
    "process proc worker node model device build host shard version rank gpu layer block class instance commit "
    "type event loop vendor product region zone cluster pod container image test run trace span checkpoint"
)
# A name with one of these counts, asks or relates: `num_users`, `is_user`, `limit_per_user`.
_TURNS = every("per by for of num max min total count is has can should without with")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|md5|b64")


@lru_cache(4096)
def words(name: str) -> tuple[str, ...]:
    """The words of an identifier, lower case, digits left out: `userID_2` → user, id."""
    return tuple(word.lower() for word in _WORD.findall(name))


def named(chain: Iterable[str]) -> Named | None:
    """What a dotted name stands for, given as its parts from left to right: `user.id` → the user; None if nobody."""
    return _named(tuple(chain))


@lru_cache(4096)
def _named(chain: tuple[str, ...]) -> Named | None:
    anonymous = False
    for name in reversed(chain):
        if name.startswith("__"):
            return None  # of the code: `user.__class__`
        if name in ("self", "cls"):
            break
        parts = words(name)
        if _TURNS.intersection(parts):
            return None
        kept = list(parts)
        while kept and kept[-1] in _BEHIND:
            kept.pop()
        anonymous = anonymous or bool(_IDS.intersection(parts[len(kept) :]))
        if not kept or kept == ["get"]:
            continue  # `.id`, `.get_id()`: what is left of it says whose
        return _of(kept, anonymous, alone=len(kept) == len(parts))
    return Named(Dimension.ID, sure=False) if anonymous else None


def _of(kept: list[str], anonymous: bool, *, alone: bool) -> Named | None:
    noun = kept[-1]
    dimension = _NOUN.get(noun) or _NOUN.get(noun.removesuffix("s"))
    if dimension is not None:
        several = noun not in _NOUN and alone and dimension is not Dimension.CONTENT
        return Named(dimension, sure=True, several=several)
    if noun in _SOFT:
        return Named(Dimension.CONTENT, sure=bool(_MAKES_SOFT_SURE.intersection(kept[:-1])))
    if noun == "tid" or (anonymous and noun not in _MACHINES):
        return Named(Dimension.ID, sure=False)
    return None
