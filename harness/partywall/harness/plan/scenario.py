"""Scenario: one hazard, the guarantees it exercises, and the plan that brings it about."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from partywall.canaries import Level

from .capabilities import AUTHENTICATES, Capabilities
from .channel import Channel
from .guarantee import Guarantee
from .operation import lacking
from .planting import Planting
from .schedule import Schedule

PROMPT = str(Channel.PROMPT)


class Pack(StrEnum):
    """How much is run: each scenario declares the smallest pack that holds it."""

    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"

    def includes(self, other: Pack) -> bool:
        """True where a run of this pack runs a scenario of `other`."""
        order = list(Pack)
        return order.index(other) <= order.index(self)


Plan = Callable[[Planting, random.Random, int], Schedule | tuple[Schedule, ...]]
"""`plan(mint, rng, size)`: everything random comes from `rng`, every canary from `mint`."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One hazard. `needs` are operations it cannot do without; `direction` is the level it crosses, if one.

    `destructive` scenarios purge, kill or use wildcard ids: they run on disposable targets only. `faults` are those it
    is put through, each in a world of its own, where the run names none; it then needs a mock LLM behind the target.
    """

    id: str
    hazard: str
    exercises: frozenset[Guarantee]
    needs: frozenset[str]
    plan: Plan
    pack: Pack = Pack.QUICK
    direction: Level | None = None
    destructive: bool = False
    faults: tuple[str, ...] = ()

    def obstacle(self, capabilities: Capabilities) -> str:
        """Why the target cannot be put through this scenario; empty where it can."""
        missing = lacking(self.needs, capabilities.offers)
        if missing == (AUTHENTICATES,):
            return "the target does not prove who calls"
        if missing:
            return f"the target lacks {', '.join(missing)}"
        if self.direction is not None and self.direction not in capabilities.dimensions:
            return f"the target has no {self.direction.label} dimension"
        if self.faults and PROMPT not in capabilities.watches:
            return "the target has no mock LLM behind it, so no fault can be delivered"
        if self.destructive and not capabilities.disposable:
            return "the target is not declared disposable"
        return ""
