"""active → idle → expired → archived: computed from times, so no sweeper decides what may be written or seen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where a session stands."""

    ACTIVE = "active"
    IDLE = "idle"
    EXPIRED = "expired"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, and numbers of turns. Three limits of a session, each for itself: idle costs only, expired refuses
    writes, archived has no text any more. `task_after` and `user_after` are the lives of the other two layers, counted
    from their last use. From `condense_at` stored turns on early ones are condensed; there are never more than
    `max_turns`."""

    idle_after: float = 15 * 60
    lifetime: float = 8 * 3600
    archive_after: float = 30 * 86400
    max_turns: int = 200
    condense_at: int = 180
    task_after: float = 7 * 86400
    user_after: float = 365 * 86400


@dataclass(frozen=True, slots=True)
class Life:
    """The instants that a session's state follows from (Unix seconds); `archived_at` where somebody archived it."""

    created_at: float
    last_active: float
    archived_at: float | None = None

    def expires_at(self, limits: Limits) -> float:
        """The absolute end: counted from creation, so activity never moves it."""
        return self.created_at + limits.lifetime

    def state(self, now: float, limits: Limits) -> State:
        """The state at `now`."""
        end = self.expires_at(limits)
        if self.archived_at is not None or now >= end + limits.archive_after:
            return State.ARCHIVED
        if now >= end:
            return State.EXPIRED
        return State.IDLE if now - self.last_active >= limits.idle_after else State.ACTIVE

    def writable(self, now: float, limits: Limits) -> bool:
        """Whether a write is taken at `now`."""
        return self.state(now, limits) in (State.ACTIVE, State.IDLE)
