"""Session ids: what a session is called at the target, chosen by us or given by it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from partywall.canaries import Scope

from ...plan.identity import Address
from ...plan.probe import Call
from .pointer import MISSING, Pointer, resolve
from .template import Inexpressible

_NAMESPACE = uuid.UUID("8f2b6b3e-6f0c-5d0a-9a53-2f4b6f1f9c11")
Key = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class SessionRule:
    """How sessions are named; `captures` says by operation where the target's own id stands: a pointer into the
    document, or the name of a header."""

    server: bool = False
    format: Literal["plain", "uuid5", "uuid5-session"] = "plain"
    captures: Mapping[str, Pointer | str] = field(default_factory=dict)
    initial: Any = None


class SessionIds:
    """The names of the sessions of one target."""

    def __init__(self, rule: SessionRule) -> None:
        self._rule = rule
        self._given: dict[Key, Any] = {}
        self._locks: dict[Key, asyncio.Lock] = {}

    def of(self, scope: Scope | Address) -> Any:
        """What the session of `scope` is called. Raises Inexpressible where the target has not said so yet."""
        if self._rule.server:
            known = self._given.get(scope.path[:3], self._rule.initial)
            if known is None:
                raise Inexpressible("the target has given this session no id")
            return known
        if self._rule.format == "plain":
            return scope.session
        parts = scope.path[:3] if self._rule.format == "uuid5" else scope.path[2:3]
        return str(uuid.uuid5(_NAMESPACE, json.dumps(parts)))

    def sibling(self, scope: Scope | Address, session: str | None) -> Any:
        """What another session of the same user is called; None stays None."""
        if session is None:
            return None
        if isinstance(scope, Scope):
            return self.of(replace(scope, session=session))
        return self.of(replace(scope, session=session))

    @asynccontextmanager
    async def alone(self, call: Call) -> AsyncIterator[None]:
        """Hold back other calls that would capture the id of this session until it is known: two that go out
        together would found two sessions, and what was written into one of them would look lost."""
        key = call.scope.path[:3]
        if not self._captures(call) or key in self._given:
            yield
            return
        async with self._locks.setdefault(key, asyncio.Lock()):
            yield

    def learn(self, call: Call, document: Any, headers: Sequence[tuple[str, str]]) -> None:
        """Keep the id that an answer gave. Only the owner's own, valid call names its session: an intruder's would
        point the owner at the intruder's session."""
        owner = (call.caller.tenant, call.caller.user) == call.scope.path[:2]
        if not self._captures(call) or not owner or call.credential != "valid":
            return
        place = self._rule.captures[call.op]
        if isinstance(place, str):
            found: Any = next((value for name, value in headers if name.lower() == place.lower()), MISSING)
        else:
            found = resolve(document, place)
        if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
            self._given[call.scope.path[:3]] = found

    def _captures(self, call: Call) -> bool:
        return self._rule.server and call.op in self._rule.captures
