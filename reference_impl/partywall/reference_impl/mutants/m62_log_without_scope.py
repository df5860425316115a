"""M62-log: the scope is missing from one place, the lines of the log."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..keys import Key, Keys
from .seeded import Mutant


class SessionOnly(Keys):
    """Names session and task: s1 and k1 are everybody's."""

    def log(self, scope: Scope) -> Key:
        _, _, session, task = super().log(scope).split("|")
        return Key(f"{session}|{task}")


MUTANT = Mutant(
    id="M62-log",
    title="scope missing from log lines",
    caught_by=frozenset({"PW801"}),
    seen_in="stored_keys, place log",
    build=lambda parts: replace(parts, keys=SessionOnly),
)
