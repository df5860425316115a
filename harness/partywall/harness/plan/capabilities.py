"""Capabilities: what a target offers and promises, as its history records it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from partywall.canaries import Level

ALL_LEVELS = frozenset(Level)
AUTHENTICATES = "authenticates"
"""A need that no operation meets: the target proves its callers."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a target can do.

    operations        names of contract v1 that it has
    dimensions        the levels it keeps apart; a missing one makes its direction not covered
    reach             overrides of who may see what an operation plants: {operation: {channel or "*": level}}
    promises          what it promises beyond the contract ("order", "read", "idempotent", "cas", "level", …)
    intended_sharing  pairs of tenants that share on purpose
    authenticates     it proves the caller; otherwise the caller always equals the addressed scope
    fresh             every world starts empty, so tenant ids need no run nonce
    disposable        scenarios may purge, kill and use wildcard ids
    replicas          how many processes answer
    watches           channels observed beside the operations: `prompt` where a mock model stands behind it, `headers`
    """

    operations: frozenset[str]
    dimensions: frozenset[Level] = ALL_LEVELS
    reach: Mapping[str, Mapping[str, Level]] = field(default_factory=dict)
    promises: Mapping[str, Any] = field(default_factory=dict)
    intended_sharing: tuple[tuple[str, str], ...] = ()
    authenticates: bool = False
    fresh: bool = False
    disposable: bool = False
    replicas: int = 1
    watches: frozenset[str] = frozenset()

    @property
    def offers(self) -> frozenset[str]:
        """What a need can be met by: operations, `authenticates`, and `promises.NAME` for each promise that is made;
        for one that is a mapping, `promises.NAME.PART` too."""
        promised = {f"promises.{name}" for name, given in self.promises.items() if given}
        promised |= {
            f"promises.{name}.{part}"
            for name, given in self.promises.items()
            if isinstance(given, Mapping)
            for part, number in given.items()
            if number
        }
        return self.operations | promised | ({AUTHENTICATES} if self.authenticates else set())
