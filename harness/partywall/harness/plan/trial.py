"""Trial: the repro key. It prints as one line, and that line replays it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from ..errors import UsageError

STEADY = "steady"
"""The fault of a trial where none was asked for: nothing is wrong."""

HEALTHY = frozenset({STEADY, "normal", "late"})
"""Faults that change nothing of what the model says: a turn that one of them strikes has not failed."""

_LINE = re.compile(r"scenario=(\S+) target=(\S+) fault=(\S+) seed=(-?\d{1,4000}) size=(\d{1,9})")
MAX_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Trial:
    """One scenario on one target under one fault, from one seed, at one size."""

    scenario: str
    target: str
    fault: str = STEADY
    seed: int = 0
    size: int = 1

    def __str__(self) -> str:
        return (
            f"scenario={_quoted(self.scenario)} target={_quoted(self.target)} fault={_quoted(self.fault)} "
            f"seed={self.seed} size={self.size}"
        )

    @staticmethod
    def parse(line: str) -> Trial:
        """The trial that printed `line`; UsageError where no trial prints so."""
        match = _LINE.fullmatch(line.strip())
        if not match:
            raise UsageError(
                f"{line!r} is no trial; expected 'scenario=… target=… fault=… seed=1 size=1' as a report prints it"
            )
        scenario, target, fault = (unquote(part) for part in match.groups()[:3])
        size = int(match[5])
        if not 1 <= size <= MAX_SIZE:
            raise UsageError(f"a trial of size {size} cannot be run; expected 1 to {MAX_SIZE}")
        return Trial(scenario, target, fault, int(match[4]), size)


def _quoted(text: str) -> str:
    return quote(text, safe=":/.-_=+@,~")
