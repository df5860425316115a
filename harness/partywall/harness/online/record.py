"""Record: one thing that passed. Whose it is, what its own identity put in, what was shown to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from partywall.canaries import Level

from ..plan.identity import RawPath


class Record(Protocol):
    """What every source makes of what passes it.

    `viewer` holds None for an id that was not named. `sampled_by` is the session, else the trace, else the request.
    `stratum` says why it is always looked at deeply, empty where it is not. `own` and `shown` read the texts when they
    are needed, which for most records they never are; they may raise RecursionError for what is nested too deep.
    """

    @property
    def viewer(self) -> RawPath: ...
    @property
    def trace(self) -> str: ...
    @property
    def sampled_by(self) -> str: ...
    @property
    def stratum(self) -> str: ...

    def own(self) -> Sequence[str]:
        """Texts that the viewer's own identity put in: what it may see for that reason alone."""

    def shown(self) -> Sequence[tuple[str, str]]:
        """(channel, text) of everything else: derived, so another's canary in it has leaked."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A record as a source hands it on: the raw bytes that were read, and where they stood.

    `record` is None where nobody could say what it is. `reason`, as metrics label it, says why, or what of a record was
    not looked at. `rest` marks the
    continuation of one that was too long to be held: scanned, and not counted a second time.
    """

    raw: tuple[bytes, ...]
    record: Record | None
    reason: str = ""
    source: str = ""
    offset: int = 0
    rest: bool = False


_NAMED = tuple(frozenset(level for level in Level if level <= depth) for depth in range(len(Level) + 1))


def levels_named(viewer: RawPath) -> frozenset[Level]:
    """The levels a viewer can be judged at: those named without a gap, from the tenant inwards.

    A session without its user is nobody's in particular: digests are taken over whole paths, so below a gap nothing can
    be compared. An empty session or task is a value of its own; an empty tenant or user is none.
    """
    depth = 0
    for value in viewer:
        if value is None or (not value and depth < Level.USER):
            break
        depth += 1
    return _NAMED[depth]
