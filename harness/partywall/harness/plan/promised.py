"""Promised: a number that the target's promises give, known when a plan is fitted to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_REPEATS = 4000
"""The most calls that one repeated probe is made into: a promise that is never reached by as many is not tried."""


@dataclass(frozen=True, slots=True)
class Promised:
    """`times` × what the target promises under `name`, `plus` more: seconds or a count.

    `name` may reach into a promise that is a mapping: `rate_limit.user`.
    """

    name: str
    times: float = 1.0
    plus: float = 0.0

    def of(self, promises: Mapping[str, Any]) -> float | None:
        """The number; None where the target promises none by that name."""
        found = promised(promises, self.name)
        return None if found is None else found * self.times + self.plus

    def count(self, promises: Mapping[str, Any]) -> int:
        """The number as a count of calls, rounded up; 0 where there is none, or where it is more than is tried."""
        number = self.of(promises)
        return math.ceil(number) if number is not None and 0 < number <= MOST_REPEATS else 0


def promised(promises: Mapping[str, Any], name: str) -> float | None:
    """The positive number promised under `name`; None where nothing, or no such number, is."""
    value: Any = promises
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return None
    return float(value)
