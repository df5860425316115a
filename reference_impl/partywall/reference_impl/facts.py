"""Facts change by supersession: what was asserted is never changed again, and what held follows from all of it.

Two times stand beside each other. Valid time says when a value holds, record time when it was asserted. A claim holds
from its `valid_from` until the next later one that is known; one that begins at the same instant as an earlier claim
corrects it. So any belief of the past can be asked for again: it is what follows from the claims recorded until then.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .layers import Layer

_TICK = 1e-6


@dataclass(frozen=True, slots=True)
class Assertion:
    """A value put forward at the instant `at`: it is to hold from `valid_from` on, from now where that is None.

    `made_by` says what made it where that was no caller; `carried_from` is the redacted session it was carried from.
    """

    name: str
    value: str
    layer: Layer
    at: float
    source_turn: int | None
    valid_from: float | None = None
    made_by: str = ""
    carried_from: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """An assertion as it is kept: never changed, numbered in the order of record. `value` is canonical JSON text."""

    name: str
    value: str
    layer: Layer
    version: int
    valid_from: float
    recorded_at: float
    source_turn: int | None
    made_by: str = ""
    carried_from: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of a fact, valid in the half-open interval [valid_from, valid_to) (Unix seconds).

    `superseded_by` is the number of the version that follows, `superseded_at` the record time at which that was
    known. A correction in between gets a higher number than what follows it.
    """

    claim: Claim
    valid_to: float | None
    superseded_by: int | None
    superseded_at: float | None

    @property
    def name(self) -> str:
        return self.claim.name

    @property
    def value(self) -> str:
        return self.claim.value

    @property
    def layer(self) -> Layer:
        return self.claim.layer

    @property
    def version(self) -> int:
        return self.claim.version

    @property
    def valid_from(self) -> float:
        return self.claim.valid_from

    def holds(self, at: float) -> bool:
        """Whether this version held at the instant `at`."""
        return self.valid_from <= at and (self.valid_to is None or at < self.valid_to)

    def record(self) -> dict[str, object]:
        """The version as answers show it."""
        told: dict[str, object] = {
            "key": self.name,
            "value": json.loads(self.value),
            "layer": self.layer.value,
            "version": self.version,
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
            "recorded_at": self.claim.recorded_at,
            "source_turn": self.claim.source_turn,
            "superseded_by": self.superseded_by,
            "superseded_at": self.superseded_at,
        }
        if self.claim.carried_from is not None:
            told["carried_from"] = self.claim.carried_from
        return told


def canonical(value: object) -> str:
    """The value as JSON text that is equal exactly where the values are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def believed(claims: Sequence[Claim], known_at: float | None = None) -> list[Fact]:
    """The versions of one fact by valid time, as the claims recorded until `known_at` have them, all by default.

    `claims` are those of one fact, by version. Intervals of one belief meet and never overlap.
    """
    known = [claim for claim in claims if known_at is None or claim.recorded_at <= known_at]
    beginning = {claim.valid_from: claim for claim in known}  # of two that begin alike the later recorded counts
    chain = [beginning[instant] for instant in sorted(beginning)]
    if not chain:
        return []
    closed = [Fact(one, next_.valid_from, next_.version, _known(one, next_)) for one, next_ in pairwise(chain)]
    return [*closed, Fact(chain[-1], None, None, None)]


def supersede(claims: Sequence[Claim], said: Assertion) -> Claim | None:
    """The claim that an assertion adds to those of its fact; None where it says nothing new.

    Without `valid_from` it follows the version that is open, and begins after it even where the clock stood still or
    went back. With it, it begins exactly then, and what began later stands. Record time never goes back either.
    """
    chain = believed(claims)
    if said.valid_from is None:
        held = chain[-1] if chain else None
        begins = said.at if held is None else max(said.at, _after(held.valid_from))
    else:
        begins = said.valid_from
        held = next((fact for fact in chain if fact.holds(begins)), None)
    if held is not None and held.value == said.value:
        return None
    last = claims[-1] if claims else None
    return Claim(
        name=said.name,
        value=said.value,
        layer=said.layer,
        version=last.version + 1 if last else 1,
        valid_from=begins,
        recorded_at=max(said.at, last.recorded_at) if last else said.at,
        source_turn=said.source_turn,
        made_by=said.made_by,
        carried_from=said.carried_from,
    )


def _after(instant: float) -> float:
    # Far in the future a tick is less than what tells two instants apart.
    return max(instant + _TICK, math.nextafter(instant, math.inf))


def _known(one: Claim, following: Claim) -> float:
    return max(one.recorded_at, following.recorded_at)
