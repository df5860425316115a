"""Load merge: the histories of all workers as one, since what one planted another may have been shown."""

from __future__ import annotations

import heapq
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import HistoryError
from ..observe.history import Entry, Header, History, Invoked, Limited
from ..observe.journal import read
from .load_witness import Count


@dataclass(frozen=True, slots=True)
class Tally:
    """What the processes of a run counted, added up; `figures` are the master's, `lost` the workers without a word.

    `requests` is the greatest count anybody has: the master's may be short of the last moments, the workers' of one
    that was killed.
    """

    requests: int = 0
    checked: int = 0
    failed: int = 0
    foreign: int = 0
    problems: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    lost: tuple[int, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def failed_share(self) -> float:
        """Failed requests of all; those that failed for a foreign canary are not among them."""
        return self.failed / self.requests if self.requests else 0.0


def gathered(folder: Path, workers: int) -> tuple[list[History], Tally]:
    """What each worker left in `folder`, in the order of workers, and the tally."""
    histories: list[History] = []
    counts: list[Count] = []
    lost: list[int] = []
    for number in range(workers):
        place = folder / f"worker-{number}"
        if not place.with_suffix(".json").exists():
            lost.append(number)
            continue
        counts.append(Count(**json.loads(place.with_suffix(".json").read_text("utf-8"))))
        histories += read(place.with_suffix(".jsonl"))
    master = folder / "master.json"
    figures = json.loads(master.read_text("utf-8")) if master.exists() else {}
    tally = Tally(
        requests=max(sum(count.requests for count in counts), figures.get("requests", 0)),
        checked=sum(count.checked for count in counts),
        failed=sum(count.failed for count in counts),
        foreign=max(sum(count.foreign for count in counts), figures.get("foreign", 0)),
        problems=tuple(dict.fromkeys(problem for count in counts for problem in count.problems)),
        exceptions=tuple(figures.get("exceptions", ())),
        lost=tuple(lost),
        figures=figures,
    )
    return histories, tally


def merged(histories: Sequence[History], header: Header, lost: Sequence[int] = ()) -> History:
    """One history under `header`: all entries in the order of time, those of one worker in their own order.

    Judged apart, a canary that worker 1 planted and worker 2 was shown would be nobody's in both histories: no owner
    to name, no reach to judge it by. The monotonic clock is one for all processes of a machine (clock_gettime(2)),
    so entries of two workers compare. A worker whose history is missing is told as a limit. Raises HistoryError
    where two workers use the same probe id.
    """
    seen: set[str] = set()
    for history in histories:
        for entry in history.entries:
            if isinstance(entry, Invoked):
                if entry.probe in seen:
                    raise HistoryError(f"probe {entry.probe!r} stands in the histories of two workers")
                seen.add(entry.probe)
    entries: list[Entry] = list(heapq.merge(*(history.entries for history in histories), key=_at))
    end = entries[-1].at if entries else 0
    entries += [Limited(end, f"the history of worker {number} is lost") for number in lost]
    clock = min((history.header.clock for history in histories), default=header.clock)
    return History(replace(header, clock=clock), tuple(entries))


def _at(entry: Entry) -> int:
    return entry.at
