"""A right adapter for turns, under a lock; the wrong ones below each leave one thing out of it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from partywall.harness import Refused

Key = tuple[Any, ...]
PROMISES: Mapping[str, Any] = {"order": "index", "read": "full", "version": "count", "idempotent": True, "cas": True}


class Logbook:
    """Keeps turns per session; what a lock protects is slow, so that whoever leaves the lock out meets another."""

    promises: Mapping[str, Any] = PROMISES

    def __init__(self) -> None:
        self.blobs: dict[Key, list[str]] = defaultdict(list)
        self.requests: dict[Key, tuple[str, int]] = {}
        self.lock = threading.Lock()

    def session(self, call: Any) -> Key:
        return (call.scope.tenant, call.scope.user, call.scope.session)

    def request(self, call: Any, text: str) -> Key:
        return (*self.session(call), call.request_id)

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> dict[str, int]:
        with self.lock:
            return self.appended(call, text, expected_version)

    def appended(self, call: Any, text: str, expected_version: Any) -> dict[str, int]:
        earlier = self.requests.get(self.request(call, text)) if call.request_id else None
        if earlier is not None:
            if earlier[0] != text:
                raise Refused("this id was used for another text", "conflict")
            return {"turn": earlier[1], "version": earlier[1]}
        blob = list(self.blobs[self.session(call)])
        time.sleep(0.001)
        if expected_version is not None and expected_version != len(blob):
            raise Refused("stale version", "conflict")
        self.blobs[self.session(call)] = [*blob, text]
        if call.request_id:
            self.requests[self.request(call, text)] = (text, len(blob) + 1)
        return {"turn": len(blob) + 1, "version": len(blob) + 1}

    def list_turns(self, call: Any, limit: int | None = None) -> list[str]:
        return list(self.blobs[self.session(call)])


class WithoutNumbers(Logbook):
    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> Any:
        super().append_turn(call, text, role, expected_version)


class OpaqueVersions(Logbook):
    """Versions that count nothing anybody could know."""

    promises = MappingProxyType({name: promise for name, promise in PROMISES.items() if name != "version"})

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> Any:
        expected = None if expected_version is None else int(str(expected_version).removeprefix("etag-"))
        done = super().append_turn(call, text, role, expected)
        return {**done, "version": f"etag-{done['version']}"}


class PromisesNothing(Logbook):
    promises = MappingProxyType({})


class Asynchronous(Logbook):
    async def append_turn(  # type: ignore[override]
        self, call: Any, text: str, role: str = "user", expected_version: Any = None
    ) -> Any:
        await asyncio.sleep(0.001)
        return self.appended(call, text, expected_version)


class WholeBlob(Logbook):
    """Load, yield, append, save, with nothing around it."""

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> dict[str, int]:
        return self.appended(call, text, expected_version)


class WholeBlobWithoutNumbers(WholeBlob):
    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> Any:
        super().append_turn(call, text, role, expected_version)


class WithoutDedup(Logbook):
    def request(self, call: Any, text: str) -> Key:
        return (object(),)


class UnscopedDedup(Logbook):
    """A request id means the same in every scope; another text under it is answered with the first turn."""

    def request(self, call: Any, text: str) -> Key:
        return (call.request_id,)

    def appended(self, call: Any, text: str, expected_version: Any) -> dict[str, int]:
        earlier = self.requests.get(self.request(call, text)) if call.request_id else None
        if earlier is not None:
            return {"turn": earlier[1], "version": earlier[1]}
        return super().appended(call, text, expected_version)


class StoresTheSecondBody(Logbook):
    """Looks up the id together with the text: another text is another request."""

    def request(self, call: Any, text: str) -> Key:
        return (*self.session(call), call.request_id, text)


class WithoutCas(Logbook):
    def appended(self, call: Any, text: str, expected_version: Any) -> dict[str, int]:
        return super().appended(call, text, None)


class LagsBehind(Logbook):
    """Reads what was there a moment ago."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: dict[Key, tuple[float, list[str]]] = {}

    def list_turns(self, call: Any, limit: int | None = None) -> list[str]:
        key = self.session(call)
        now = time.monotonic()
        if key not in self.copies or now - self.copies[key][0] > 0.05:
            self.copies[key] = (now, list(self.blobs[key]))
        return self.copies[key][1]


class NumbersWithGaps(Logbook):
    def appended(self, call: Any, text: str, expected_version: Any) -> dict[str, int]:
        done = super().appended(call, text, expected_version)
        return {**done, "turn": done["turn"] + done["turn"] // 5}


class RefusesLate(Logbook):
    """Tells some writers that it refused, after it has stored the turn."""

    def appended(self, call: Any, text: str, expected_version: Any) -> dict[str, int]:
        done = super().appended(call, text, expected_version)
        if done["turn"] % 7 == 0:
            raise Refused("too many requests", "limited")
        return done
