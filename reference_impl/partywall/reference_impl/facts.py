"""Facts change by supersession: a new value closes the old one, and nothing is overwritten."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from .layers import Layer

_TICK = 1e-6


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of a fact, valid in the half-open interval [valid_from, valid_to) (Unix seconds).

    `value` is canonical JSON text. `superseded_by` is the number of the next version. Record time
    (`recorded_at`) stands beside valid time.
    """

    name: str
    value: str
    layer: Layer
    version: int
    valid_from: float
    valid_to: float | None
    recorded_at: float
    source_turn: int | None
    superseded_by: int | None

    def holds(self, at: float) -> bool:
        """Whether this version held at the instant `at`."""
        return self.valid_from <= at and (self.valid_to is None or at < self.valid_to)

    def record(self) -> dict[str, object]:
        """The version as answers show it."""
        return {
            "key": self.name,
            "value": json.loads(self.value),
            "layer": self.layer.value,
            "version": self.version,
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
            "recorded_at": self.recorded_at,
            "source_turn": self.source_turn,
            "superseded_by": self.superseded_by,
        }


@dataclass(frozen=True, slots=True)
class Assertion:
    """A value put forward: who asks for what to hold, from `at` on."""

    name: str
    value: str
    layer: Layer
    at: float
    source_turn: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """What an assertion does: which version it closes and opens; neither where it says nothing new."""

    closed: Fact | None
    opened: Fact | None


def canonical(value: object) -> str:
    """The value as JSON text that is equal exactly where the values are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def supersede(current: Fact | None, claim: Assertion) -> Change:
    """Fold a claim into the chain whose open version is `current`.

    The same value makes no new version. The new version begins after the old one began, even where the clock
    stood still or went back: intervals of one chain never overlap.
    """
    if current is not None and current.value == claim.value:
        return Change(None, None)
    begins = claim.at if current is None else max(claim.at, current.valid_from + _TICK)
    number = 1 if current is None else current.version + 1
    opened = Fact(claim.name, claim.value, claim.layer, number, begins, None, claim.at, claim.source_turn, None)
    closed = None if current is None else replace(current, valid_to=begins, superseded_by=number)
    return Change(closed, opened)
