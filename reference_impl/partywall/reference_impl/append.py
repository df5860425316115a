"""Appending a turn: lock, then compare-and-set, then request id, each against its own fault.

The lock spares conflicts, and is assumed to fail. The version that was read goes with every commit, so two
writers that read the same one cannot both win. The request id is looked up in the transaction of the append.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Protocol

from partywall.canaries import Level, Scope

from .keys import Keys
from .locks import SessionLocks
from .refusals import ConcurrencyError

ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a turn stands. `version` counts the turns ever appended; `text` is what is stored."""

    turn: int
    version: int
    incarnation: str
    text: str
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn to be appended.

    `expected_version`: what the client read, if it says. `part`: which half of a request this is, `user` or
    `assistant`. `answers`: the turn that must still stand, in the same life of the session, so that nothing
    written late brings back what was purged. `operation` and `caller` tell apart equal request ids.
    """

    text: str
    role: str = "user"
    operation: str = "append_turn"
    part: str = "user"
    caller: str = ""
    request_id: str | None = None
    expected_version: int | None = None
    answers: Appended | None = None

    def digest(self, scope: Scope) -> str:
        """What must be equal for two deliveries of one request id to be the same request."""
        body = json.dumps([self.operation, self.role, scope.task, self.text])
        return hashlib.sha256(body.encode()).hexdigest()


class TurnStore(Protocol):
    """What appending needs of a store."""

    async def version(self, scope: Scope) -> int | None:
        """The session's version; None where there is no session."""
        ...

    async def append(self, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        """One transaction: request id, compare-and-set on `seen`, turn. Raises Refusal."""
        ...


class CasCounter(Protocol):
    """Told of every commit, and whether it met a conflict."""

    def cas(self, conflict: bool) -> None:
        """Count one attempt."""
        ...


class TurnLog:
    """Append-only turns, numbered 1..n per session whatever the load."""

    def __init__(self, keys: Keys, locks: SessionLocks, store: TurnStore, counter: CasCounter) -> None:
        self._keys = keys
        self._locks = locks
        self._store = store
        self._counter = counter

    async def append(self, scope: Scope, draft: Draft) -> Appended:
        """Append one turn under the session's lock.

        Raises ConcurrencyError at once where the client named a version that is stale; a version this service
        read itself is read anew, ATTEMPTS times at most.
        """
        scope.require(Level.SESSION)
        async with self._locks.hold(self._keys.lock(scope)):
            for attempt in range(1, ATTEMPTS + 1):
                mine = draft.expected_version is None
                seen = await self._store.version(scope) if mine else draft.expected_version
                try:
                    appended = await self._store.append(scope, draft, seen)
                except ConcurrencyError:
                    self._counter.cas(conflict=True)
                    if not mine or attempt == ATTEMPTS:
                        raise
                else:
                    self._counter.cas(conflict=False)
                    return appended
        raise AssertionError("unreachable")
