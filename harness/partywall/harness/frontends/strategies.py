"""Hypothesis strategies: scopes that collide, ids that are awkward, programs of turns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from hypothesis import strategies as st
from partywall.canaries import Scope

COLLIDING = sorted(
    (Scope(*parts) for parts in product(("acme", "zeta"), ("ann", "bob"), ("s1", "s2"), ("k1", "k2"))),
    key=lambda scope: (sum(part in ("zeta", "bob", "s2", "k2") for part in scope.path), scope.path[::-1]),
)
"""Sixteen scopes; those that part from the first at one level only come next, the outermost level first."""

AWKWARD = (
    "1",
    "10",
    "01",
    "a:b",
    "a/b",
    "a|b",
    "a.b",
    "a b",
    "a ",
    " a",
    "A",
    "a",
    "null",
    "None",
    "undefined",
    "default",
    "..",
    "../a",
    "%2e%2e",
    "a%2Fb",
    "*",
    "%",
    "_",
    "'",
    '"',
    "a' OR '1'='1",
    "{a}",
    "$a",
    "a\tb",
    "a\nb",
    "a\x00b",
    "caf\u00e9",
    "cafe\u0301",
    "\uff41",
    "\u0430",
    "a\u200b",
    "\U0001f642",
    "x" * 255,
    "x" * 256,
)
"""Ids that a lossy key would make one, or a careless query would read as a pattern."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a turn program: `scope` does `op` (`append_turn`, or a look at what it is shown)."""

    op: str
    scope: Scope


def awkward_ids() -> st.SearchStrategy[str]:
    """Ids of at least one character that look alike, hold delimiters or patterns, or are any text at all."""
    anything = st.text(st.characters(codec="utf-8"), min_size=1, max_size=24)
    return st.one_of(st.sampled_from(AWKWARD), anything)


def scopes(ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Scope]:
    """Scopes of two tenants, users, sessions and tasks of equal names, so that they collide at every level.

    With `ids`, every part is drawn from there: `scopes(awkward_ids())`. Shrinks to acme/ann/s1/k1.
    """
    if ids is not None:
        return st.builds(Scope, ids, ids, ids, ids)
    return st.sampled_from(COLLIDING)  # one choice, not four: a step of few choices is one that Hypothesis can drop


def turn_programs(
    max_size: int = 12,
    ids: st.SearchStrategy[str] | None = None,
    looks: tuple[str, ...] = ("list_turns", "context"),
) -> st.SearchStrategy[list[Step]]:
    """Programs of at least two steps over colliding scopes: a turn is appended, then anyone appends or looks.

    Carry a program out in order on one target, with a canary of `step.scope` in each turn. Shrinks to one turn and
    one look by the same scope.
    """
    first = st.builds(Step, st.just("append_turn"), scopes(ids))
    later = st.builds(Step, st.sampled_from((*looks, "append_turn")), scopes(ids))
    rest = st.lists(later, min_size=1, max_size=max(1, max_size - 1))
    return st.builds(lambda head, tail: [head, *tail], first, rest)
