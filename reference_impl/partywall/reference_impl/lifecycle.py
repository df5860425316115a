"""active → idle → expired → archived: computed from times, so no sweeper decides what may be written."""

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
    """Seconds, and a number of turns."""

    idle_after: float = 15 * 60
    lifetime: float = 8 * 3600
    archive_after: float = 30 * 86400
    max_turns: int = 10_000


@dataclass(frozen=True, slots=True)
class Life:
    """The two instants that a session's state follows from (Unix seconds)."""

    created_at: float
    last_active: float

    def expires_at(self, limits: Limits) -> float:
        """The absolute end: counted from creation, so activity never moves it."""
        return self.created_at + limits.lifetime

    def state(self, now: float, limits: Limits) -> State:
        """The state at `now`; idle costs only, expired refuses writes."""
        end = self.expires_at(limits)
        if now >= end + limits.archive_after:
            return State.ARCHIVED
        if now >= end:
            return State.EXPIRED
        return State.IDLE if now - self.last_active >= limits.idle_after else State.ACTIVE

    def writable(self, now: float, limits: Limits) -> bool:
        """Whether a write is taken at `now`."""
        return self.state(now, limits) in (State.ACTIVE, State.IDLE)
