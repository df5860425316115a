"""Findings: which key reaches which place, what it leaves out, and what to do instead, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .sinks import Family
from .words import Dimension

_LONGEST = 72

RULES = {
    "hand-built-cache-key": "let the scope object make the key of scope, purpose and payload",
    "hand-built-redis-key": "let the scope object make the key",
    "hand-built-lock-key": "let the scope object make the key, one lock per session",
    "hand-built-rate-key": "let the scope object make one key per tenant and one per user",
    "hand-built-path": "let the scope object make the path, every id encoded",
    "key-without-scope": "let the scope object make the key",
    "suppression-without-reason": "say why after a dash: `# partywall: allow RULE — reason`",
    "suppression-unused": "take the comment out",
    "suppression-unknown-rule": "name a rule that exists",
}
"""Rule → what to do instead."""

RULE_OF = {
    Family.CACHE: "hand-built-cache-key",
    Family.STORE: "hand-built-cache-key",
    Family.REDIS: "hand-built-redis-key",
    Family.LOCK: "hand-built-lock-key",
    Family.RATE: "hand-built-rate-key",
    Family.PATH: "hand-built-path",
}
_WANTED = {
    Family.LOCK: (Dimension.TENANT, Dimension.USER, Dimension.SESSION),
    Family.RATE: (Dimension.TENANT,),
}


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One report. Lines and columns count from 1, columns in characters; `end_column` is one past the last."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    rule: str
    expression: str = ""
    sink: str = ""
    sink_line: int = 0
    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    problem: str = ""

    @property
    def message(self) -> str:
        """One sentence: what reaches what, what it leaves out, what to do instead."""
        if self.problem:
            return f"{self.problem}: {RULES[self.rule]}"
        where = f"{self.sink} in line {self.sink_line}" if self.sink_line != self.line else self.sink
        made = "is put together by hand" if self.rule != "key-without-scope" else "is the key"
        if self.missing:
            lacks = f"names {' and '.join(f'no {dimension}' for dimension in self.missing)}"
        else:
            lacks = "lets an id that holds a separator spell the key of another"
        return f"`{self.expression}` {made} for {where} and {lacks}: {RULES[self.rule]}"


def missing_of(family: Family, dimensions: Iterable[Dimension]) -> tuple[str, ...]:
    """The dimensions a key of this kind should name and does not."""
    wanted = _WANTED.get(family, (Dimension.TENANT, Dimension.USER))
    named = set(dimensions)
    return tuple(each.value for each in wanted if each not in named)


def names_of(dimensions: Iterable[Dimension]) -> tuple[str, ...]:
    """The dimensions a key names, outermost first."""
    order = list(Dimension)
    return tuple(each.value for each in sorted(set(dimensions), key=order.index))


def shown(text: str, limit: int = _LONGEST) -> str:
    """Source text on one line, cut, and nothing in it that a terminal or a reader would not see."""
    line = " ".join(text.split()) if limit else text
    cut = line if not limit or len(line) <= limit else line[: limit - 1] + "…"
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in cut)
