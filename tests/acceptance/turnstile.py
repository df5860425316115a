"""A right adapter with allowances by user and by tenant; the wrong ones below each leave one of them out."""

from __future__ import annotations

import time
from typing import Any

from partywall.harness import Refused

from .notebook import Key, Notebook

USER, TENANT = 40, 100
REFILL = 20.0


class Turnstile(Notebook):
    """Token buckets; a call that is refused takes nothing from any of them."""

    promises = {"rate_limit": {"user": USER, "tenant": TENANT}}  # noqa: RUF012
    threadsafe = False

    def __init__(self) -> None:
        super().__init__()
        self.buckets: dict[Key, tuple[float, float]] = {}

    def limits(self, call: Any) -> dict[Key, float]:
        """Every bucket that a call takes from, and its size."""
        return {self.owner(call): USER, (call.scope.tenant,): TENANT}

    def admit(self, call: Any) -> None:
        now = time.monotonic()
        held = {}
        for key, size in self.limits(call).items():
            left, at = self.buckets.get(key, (size, now))
            held[key] = min(size, left + (now - at) * REFILL)
        if any(left < 1 for left in held.values()):
            raise Refused("too many calls", "limited")
        for key, left in held.items():
            self.buckets[key] = (left - 1, now)

    def list_sessions(self, call: Any) -> list[str]:
        self.admit(call)
        return [key[-1] for key in self.turns if key[:2] == self.owner(call)]


class OneForAll(Turnstile):
    """Keyed by the route."""

    def limits(self, call: Any) -> dict[Key, float]:
        return {("list_sessions",): USER}


class ByTenantAlone(Turnstile):
    def limits(self, call: Any) -> dict[Key, float]:
        return {(call.scope.tenant,): USER}


class LetsEverybodyIn(Turnstile):
    def limits(self, call: Any) -> dict[Key, float]:
        return {}


class LetsNobodyIn(Turnstile):
    def admit(self, call: Any) -> None:
        raise Refused("too many calls", "limited")
