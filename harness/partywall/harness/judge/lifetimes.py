"""Lifetimes: how old each session was, by the target's own clock, when it was asked for something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from partywall.canaries import Level

from ..observe.history import History, Invoked
from ..observe.outcome import NOT_IMPLEMENTED, UNSENT, Outcome
from ..plan.identity import RawPath
from ..plan.operation import OPERATIONS, WRITES

_STOPPING = ("restart", "kill")
_REMOVING = ("delete_session", "purge")
_DEPTH = {"tenant": 1, "user": 2, "session": 3}
_BORN_BY = WRITES - {"add_memory"}
_SECOND = 1e9


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds that passed by the target's clock: between `least` and `most`."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Deed:
    """One call to a session by its owner, and how it ended."""

    call: Invoked
    outcome: Outcome
    at: int
    age: Span

    @property
    def taken(self) -> bool:
        """Whether a write was accepted: a turn that the agent answered by blocking it was not."""
        blocked = isinstance(self.outcome.value, dict) and bool(self.outcome.value.get("blocked"))
        return self.outcome.status == "ok" and not blocked

    @property
    def refused(self) -> bool:
        """Whether it was surely not taken."""
        return self.outcome.status == "fail" or (self.outcome.status == "ok" and not self.taken)


@dataclass(slots=True)
class Life:
    """One session from its first call on, in the order of the calls; `archived` is when it was told so, if it was.

    What comes after its removal is another session's life and is left out.
    """

    path: tuple[str | None, str | None, str | None]
    deeds: list[Deed] = field(default_factory=list)
    archived: int | None = None

    @property
    def scope(self) -> RawPath:
        """Its path as findings name it."""
        return (*self.path, "")


class Clock:
    """The target's clock: the recorder's, moved on by every acknowledged `advance_clock`.

    `sure` is False where one of them was lost, or where the target was stopped after one: it may have forgotten.
    """

    def __init__(self, history: History) -> None:
        self._moves: list[tuple[int, int, float]] = []
        self.sure = True
        for probe, call in history.invocations.items():
            outcome = history.outcome(probe)
            if call.op in _STOPPING and outcome.status != "fail":
                self.sure &= not self._moves
            if call.op != "advance_clock" or outcome.status == "fail":
                continue
            if outcome.status == "info":
                self.sure = False
                continue
            seconds = float(call.arguments.get("seconds") or 0)
            self._moves.append((call.at, history.completions[probe].at, seconds))

    def between(self, start: tuple[int, int], end: tuple[int, int]) -> Span:
        """From an instant in the one interval to an instant in the other, each in nanoseconds of the recorder."""
        least = max(0.0, (end[0] - start[1]) / _SECOND) + self._moved(start[1], end[0], sure=True)
        most = max(0.0, (end[1] - start[0]) / _SECOND) + self._moved(start[0], end[1], sure=False)
        return Span(least, most)

    def moved(self, start: int, end: int) -> bool:
        """Whether it was moved on between two instants."""
        return self._moved(start, end, sure=True) > 0

    def _moved(self, start: int, end: int, sure: bool) -> float:
        if sure:
            return sum(seconds for call, ret, seconds in self._moves if start <= call and ret <= end)
        return sum(seconds for call, ret, seconds in self._moves if start <= ret and call <= end)


def lives_of(history: History, clock: Clock) -> list[Life]:
    """Every session that its owner addressed by name, from its birth: the call that it was first written or opened
    by. Its age is at least what passed since that was answered, at most since it was first addressed at all."""
    lives: dict[tuple[str | None, ...], Life] = {}
    first: dict[tuple[str | None, ...], int] = {}
    born: dict[tuple[str | None, ...], int] = {}
    ended: set[tuple[str | None, ...]] = set()
    for probe, call in history.invocations.items():
        outcome = history.outcome(probe)
        if outcome.code in (UNSENT, NOT_IMPLEMENTED):
            continue
        if call.op in _REMOVING and outcome.status != "fail":
            depth = _DEPTH.get(str(call.arguments.get("level", "session")), 3)
            ended |= {key for key in lives if key[:depth] == call.scope[:depth]}
        key = call.scope[:3]
        if key in ended or not _addresses(call):
            continue
        completed = history.completions.get(probe)
        at = completed.at if completed else history.entries[-1].at
        first.setdefault(key, call.at)
        if key not in born:
            if outcome.status != "ok" or call.op not in _BORN_BY | {"create_session"}:
                continue
            born[key] = at
        life = lives.setdefault(key, Life(key))
        if call.op == "archive_session" and outcome.status == "ok" and life.archived is None:
            life.archived = at
        age = clock.between((first[key], born[key]), (call.at, at))
        life.deeds.append(Deed(call, outcome, at, age))
    return list(lives.values())


def ordered(life: Life, *operations: str) -> Iterator[Deed]:
    """A life's deeds by these operations, in the order in which they were sent."""
    return (deed for deed in life.deeds if deed.call.op in operations)


def _addresses(call: Invoked) -> bool:
    operation = OPERATIONS.get(call.op)
    if operation is None or operation.operator or operation.level < Level.SESSION or not call.scope[2]:
        return False
    return call.caller == call.scope[:2] and call.credential == "valid"
