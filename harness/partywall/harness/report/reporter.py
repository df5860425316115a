"""Reporter: a pure function from results and histories to one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..observe.history import History
from ..registry import discover
from .results import Results


@dataclass(frozen=True, slots=True)
class Reporter:
    """One form of telling. `render` gives the text of the file named `filename`; it never reads anything else."""

    id: str
    filename: str
    summary: str
    render: Callable[[Results, Sequence[History]], str]


def reporters() -> dict[str, Reporter]:
    """All known reporters by id."""
    return discover("partywall.harness.report.reporters", "REPORTER", "partywall.reporters")
