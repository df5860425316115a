"""The three layers of short-term memory, and the three questions that decide between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from partywall.canaries import Level, Scope


class Layer(StrEnum):
    """Where an entry lives. There is no fourth: team-wide rules are configuration."""

    SESSION = "session"
    TASK = "task"
    USER = "user"

    @property
    def level(self) -> Level:
        """The level whose ids own an entry of this layer."""
        return _LEVELS[self]

    def owner(self, scope: Scope) -> Scope:
        """The scope an entry written under `scope` belongs to; ScopeError where it lacks an id."""
        kept = scope.require(self.level).path[: self.level]
        return Scope(*kept)


_LEVELS = {Layer.USER: Level.USER, Layer.SESSION: Level.SESSION, Layer.TASK: Level.TASK}

NEAREST_FIRST = (Layer.TASK, Layer.SESSION, Layer.USER)


def visible(scope: Scope) -> tuple[Layer, ...]:
    """The layers that `scope` names the ids for, nearest first."""
    return tuple(layer for layer in NEAREST_FIRST if all(scope.path[: layer.level]))


@dataclass(frozen=True, slots=True)
class Holding:
    """The answers to the three questions about one entry."""

    in_another_task: bool
    in_another_session: bool
    wanted_for_good_and_changeable: bool


def place(holding: Holding) -> Layer | None:
    """The layer an entry belongs to: the first "no" wins. None: true everywhere, but not to be promoted."""
    if not holding.in_another_task:
        return Layer.TASK
    if not holding.in_another_session:
        return Layer.SESSION
    return Layer.USER if holding.wanted_for_good_and_changeable else None
