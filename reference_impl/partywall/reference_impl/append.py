"""Appending a turn: lock, then compare-and-set, then request id, each against its own fault.

The lock spares conflicts, and is assumed to fail. The version that was read goes with every commit, so two
writers that read the same one cannot both win. The request id is looked up in the transaction of the append.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Protocol

from partywall.canaries import Level, Scope

from .keys import Key, Keys
from .locks import SessionLocks
from .refusals import ConcurrencyError, Overtaken

ATTEMPTS = 5
REMEMBERED = 10_000
"""Sessions whose version is known from the last append to them, so that the next need not read it."""


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a turn stands. `version` counts the turns ever appended; `text` is what is stored, `stored` how
    many turns the session holds then."""

    turn: int
    version: int
    incarnation: str
    text: str
    repeated: bool = False
    stored: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn to be appended.

    `expected_version`: what the client read, if it says. `part`: which half of a request this is, `user` or
    `assistant`. `answers`: the turn that must still stand, in the same life of the session, so that nothing
    written late brings back what was purged. `operation` and `caller` tell apart equal request ids. `fence`: the
    token of the lease it is written under, 0 for none.
    """

    text: str
    role: str = "user"
    operation: str = "append_turn"
    part: str = "user"
    caller: str = ""
    request_id: str | None = None
    expected_version: int | None = None
    answers: Appended | None = None
    fence: int = 0

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
        """One transaction: request id, compare-and-set on `seen`, turn. Raises Refusal, Overtaken among them where a
        lease of a higher token has written to the session."""
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
        self._versions: dict[Key, int] = {}

    async def append(self, scope: Scope, draft: Draft) -> Appended:
        """Append one turn under the session's lock.

        Raises ConcurrencyError at once where the client named a version that is stale; a version this service
        read itself is read anew, and a lock that was lost is taken anew, ATTEMPTS times at most.
        """
        key, mine = self._keys.lock(scope.require(Level.SESSION)), draft.expected_version is None
        for attempt in range(1, ATTEMPTS + 1):
            try:
                async with self._locks.hold(key) as lease:
                    seen = await self._seen(key, scope) if mine else draft.expected_version
                    appended = await self._store.append(scope, replace(draft, fence=lease.token), seen)
                    if not appended.repeated:  # its version is then the one of its time
                        self._remember(key, appended.version)
            except (ConcurrencyError, Overtaken) as conflict:
                self._counter.cas(conflict=True)
                if attempt == ATTEMPTS or not (mine or isinstance(conflict, Overtaken)):
                    raise
                if isinstance(conflict, Overtaken):
                    self._locks.go_on_from(conflict.token)
            else:
                self._counter.cas(conflict=False)
                return appended
        raise AssertionError("unreachable")

    async def _seen(self, key: Key, scope: Scope) -> int | None:
        """The version that the next commit is compared with: the one that the last append here left, or the store's.

        One that is remembered can be too old, where somebody else has written or the session was purged; that the
        commit finds out, and the next attempt reads. Processes that share their locks share their sessions too: there
        it would be too old all the time.
        """
        remembered = self._versions.pop(key, None)
        return await self._store.version(scope) if remembered is None or self._locks.shared else remembered

    def _remember(self, key: Key, version: int) -> None:
        if len(self._versions) >= REMEMBERED:
            self._versions.pop(next(iter(self._versions)), None)
        self._versions[key] = version
