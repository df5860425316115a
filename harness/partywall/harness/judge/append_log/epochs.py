"""Epochs: purging, deleting, archiving and a clock that is moved each begin a log anew."""

from __future__ import annotations

from dataclasses import dataclass

from ...observe.history import History
from .model import INFINITY

_DEPTH = {"tenant": 1, "user": 2, "session": 3, "task": 3}
_ENDING = ("delete_session", "archive_session", "purge", "advance_clock")


@dataclass(frozen=True, slots=True)
class Cut:
    """A call after which the log of whatever begins with `path` is another one; `ret` is INFINITY where unknown."""

    path: tuple[str | None, ...]
    call: int
    ret: float

    def ends(self, key: tuple[str | None, ...]) -> bool:
        """Whether it ends the log of `key`."""
        return key[: len(self.path)] == self.path


def cuts_of(history: History) -> list[Cut]:
    """Every cut of a history; one that was surely refused is none."""
    cuts = []
    for probe, call in history.invocations.items():
        if call.op not in _ENDING or history.outcome(probe).status == "fail":
            continue
        depth = {"advance_clock": 0, "purge": _DEPTH.get(str(call.arguments.get("level")), 1)}.get(call.op, 3)
        ended = history.completions.get(probe)
        sure = ended is not None and ended.outcome.status == "ok"
        cuts.append(Cut(call.scope[:depth], call.at, ended.at if sure and ended else INFINITY))
    return cuts


def epoch(cuts: list[Cut], call: int, ret: float) -> int | None:
    """How many of a log's cuts an operation comes after; None where it overlapped one, and may be on either side."""
    after = sum(cut.ret < call for cut in cuts)
    return None if any(cut.ret >= call and cut.call <= ret for cut in cuts) else after
