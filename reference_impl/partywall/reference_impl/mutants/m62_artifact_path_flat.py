"""M62-artifact: the scope is missing from one place, the paths of artifacts."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..keys import Key, Keys, encode
from .seeded import Mutant


class FlatPaths(Keys):
    """One folder for everybody's reports."""

    def artifact(self, scope: Scope, name: str) -> Key:
        return Key(f"n{encode(name)}")


MUTANT = Mutant(
    id="M62-artifact",
    title="scope missing from artifact paths",
    caught_by=frozenset({"PW101", "PW102", "PW103", "PW104", "PW801"}),
    seen_in="get_artifact: the last to write a name has written everybody's; stored_keys, place objects",
    build=lambda parts: replace(parts, keys=FlatPaths),
)
