"""Scope and level: whose memory it is, and where two owners part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from .errors import ScopeError

Path = tuple[str, str, str, str]


class Level(IntEnum):
    """The four dimensions of a scope, outermost first."""

    TENANT = 1
    USER = 2
    SESSION = 3
    TASK = 4

    @property
    def label(self) -> str:
        """The level's name as files and reports write it: `tenant`, `user`, `session`, `task`."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory is addressed: (tenant, user, session, task).

    Tenant and user are never empty and never defaulted. Session and task may be empty, which is a value of
    its own: it differs from every id, `-` included. Ids are data: no normalisation, case stays, spaces stay.

    Raises ScopeError where an id is no text, or where tenant or user is empty.
    """

    tenant: str
    user: str
    session: str = ""
    task: str = ""

    def __post_init__(self) -> None:
        for level in Level:
            value = getattr(self, level.label)
            if not isinstance(value, str):
                raise ScopeError(f"scope {level.label} must be text, got {type(value).__name__}")
        for level in (Level.TENANT, Level.USER):
            if not getattr(self, level.label):
                raise ScopeError(f"scope {level.label} is missing; a scope without it belongs to nobody")

    @property
    def path(self) -> Path:
        """The four ids, outermost first."""
        return (self.tenant, self.user, self.session, self.task)

    def boundary(self, other: Scope) -> Level | None:
        """The outermost level at which the two scopes part; None where they are one."""
        return boundary(self.path, other.path)

    def require(self, level: Level) -> Scope:
        """This scope, if it names `level` and everything above; ScopeError otherwise."""
        for needed in Level:
            if needed <= level and not getattr(self, needed.label):
                raise ScopeError(f"scope {self} has no {needed.label}, and this operation needs one")
        return self

    def __str__(self) -> str:
        last = max(level for level in Level if level is Level.USER or self.path[level - 1])
        return "/".join(part or "·" for part in self.path[:last])


def boundary(one: Sequence[str | None], other: Sequence[str | None]) -> Level | None:
    """The outermost level at which two paths of four ids part; None where they are equal.

    Paths, not scopes: a probe may address ids that no scope would accept (empty, None).
    """
    for level in Level:
        if one[level - 1] != other[level - 1]:
            return level
    return None
