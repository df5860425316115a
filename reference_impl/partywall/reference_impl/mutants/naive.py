"""Naive: the agent as a demo has it, ten differences from production in one; each alone is in the mutants beside it."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..append import Appended, Draft
from ..caches import Caches, Purpose
from ..keys import Key, Keys, fingerprint
from ..layers import Layer
from ..lifecycle import Life
from ..marks import Marks
from ..parts import Parts
from ..store.contract import Turn
from ..store.database import Row
from ..store.memories import SqlMemories
from ..store.sessions import SqlSessions
from .m30_whole_blob import WholeBlob
from .m47a_fact_overwritten import Overwritten
from .unlocked import Unlocked

NAIVE = "naive"


class OneDict(Overwritten):
    """1, 7: everything anybody says of a user goes into one dict, the last word in place of the one before."""

    def _owner(self, scope: Scope, layer: Layer) -> tuple[str, ...]:
        return self._keys.row(Layer.USER.owner(scope), Layer.USER.level)


class ByHand(SqlMemories):
    """2: the scope is passed on by hand, and on the way to the memories the tenant was forgotten."""

    def owned(self, scope: Scope) -> tuple[str, tuple[str, ...]]:
        return '"user" = ?', (scope.user,)


class HashOfInput(Caches):
    """3: the key of a cache is the hash of what was asked."""

    def key(self, scope: Scope, purpose: Purpose, payload: object) -> Key:
        return Key(fingerprint(payload))


class OneList(WholeBlob, SqlSessions):
    """4, 5, 6, 8: a list of turns that is read and written whole, whoever retries; its last ones are the history; it
    lives as long as it is used."""

    async def append(self, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        return await super().append(scope, replace(draft, request_id=None), seen)

    async def history(self, scope: Scope, last: int, up_to: int | None = None) -> list[Turn]:
        return [turn for turn in await self.turns(scope) if turn.text][-last:]

    def _life(self, row: Row) -> Life:
        return Life(row["last_active"], row["last_active"], row["archived_at"])


class ByRequest(Keys):
    """9: a line of the log is found by its request, and names nobody."""

    def log(self, scope: Scope) -> Key:
        return Key("request")


class ByEye(Marks):
    """10: no session has a canary, since somebody looks at the replies."""

    def mint(self, scope: Scope) -> str | None:
        return None


def naive(parts: Parts) -> Parts:
    """The parts of the naive agent."""
    return replace(
        parts,
        facts=OneDict,
        memories=ByHand,
        caches=HashOfInput,
        sessions=OneList,
        locks=Unlocked,
        keys=ByRequest,
        marks=ByEye,
    )
