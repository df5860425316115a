"""What the agent asks of a store; every method takes the full scope it needs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from partywall.canaries import Level, Scope

from ..append import TurnStore
from ..embedding import Vector
from ..facts import Assertion, Fact
from ..knowledge import KnowledgeChunk
from ..layers import Layer
from ..lifecycle import Life


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a session. An erased turn keeps its number and nothing else."""

    turn: int
    role: str
    text: str
    task: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The assistant's turn that answered a request; `text` None where it was condensed, archived or erased since."""

    turn: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Session:
    """A session's own record: `mark` its canary, `version` the turns ever appended, `head` those taken away again from
    the front, `summary` what is told of it once it is archived (JSON)."""

    scope: Scope
    life: Life
    version: int
    head: int
    mark: str | None
    incarnation: str
    summary: str | None = None

    @property
    def stored(self) -> int:
        """The turns that are there."""
        return self.version - self.head


@dataclass(frozen=True, slots=True)
class Early:
    """Turns of one task that may be condensed, of a session as it was when they were read."""

    turns: tuple[Turn, ...]
    incarnation: str
    before: str
    """The task's summary so far, empty for none."""


@dataclass(frozen=True, slots=True)
class Source:
    """What an artifact is rendered from: a template, and the facts as known at the instant `at` (Unix seconds).

    `versions` are the (layer, key, version, recorded at) of those that it uses.
    """

    template: str
    at: float
    versions: tuple[tuple[str, str, int, float], ...]


@dataclass(frozen=True, slots=True)
class PlaceReport:
    """Everything at rest in one place: contents as text, keys as text."""

    contents: list[str]
    keys: list[str]


class SessionTable(TurnStore, Protocol):
    """Sessions, their turns and the requests already answered."""

    async def create(self, scope: Scope) -> bool:
        """Make the session where there is none; whether it was made."""
        ...

    async def session(self, scope: Scope) -> Session | None: ...

    async def sessions(self, scope: Scope) -> list[Session]:
        """The user's sessions, oldest first."""
        ...

    async def everywhere(self) -> list[Session]:
        """Every session: an operator's view."""
        ...

    async def turns(self, scope: Scope, limit: int | None = None) -> list[Turn]:
        """The session's turns in order, the last `limit` of them."""
        ...

    async def history(self, scope: Scope, last: int, up_to: int | None = None) -> list[Turn]:
        """The *task's* last turns in order: filtered by task before the last ones are taken."""
        ...

    async def condense(self, scope: Scope, early: Early, summary: str) -> bool:
        """Put `summary` into the task's facts in place of its `early` turns, and take away the front that may go.

        False, and nothing is changed, where the session or these turns are no longer what was read.
        """
        ...

    async def cut(self, scope: Scope, keep: int) -> int:
        """Take away all but the session's last `keep` turns, for a note in each task's facts of how they began.

        How many turns went that nothing had stood for.
        """
        ...

    async def early(self, scope: Scope, keep: int) -> Early | None:
        """What of the scope's task may be condensed: its turns but those among the session's last `keep`."""
        ...

    async def archive(self, scope: Scope, due: bool = False) -> bool:
        """Take a session's text away for good, and keep its record and a summary; whether it was done now.

        `due`: only where its time has come.
        """
        ...

    async def reply_to(self, scope: Scope, caller: str, request_id: str) -> Reply | None:
        """What a request id was answered with; None where it was not."""
        ...

    async def erase(self, scope: Scope, level: Level) -> int: ...

    async def at_rest(self) -> PlaceReport: ...


class FactTable(Protocol):
    """Facts of the three layers."""

    async def put(self, scope: Scope, claim: Assertion) -> bool:
        """Whether a version was superseded."""
        ...

    async def chain(
        self, scope: Scope, layer: Layer, name: str | None = None, known_at: float | None = None
    ) -> list[Fact]:
        """Every version of the layer's facts (of one name), by name and valid time, as believed at `known_at`."""
        ...

    async def conclusions(self, source: Scope) -> list[tuple[str, Fact]]:
        """The open task-layer facts of a session, each with its task."""
        ...

    async def carry(self, source: Scope, target: Scope, names: Collection[str] | None = None) -> int:
        """Copy the open task-layer facts of one session (of these names) into another; how many."""
        ...

    async def delete(self, scope: Scope, layer: Layer, name: str) -> int: ...

    async def erase(self, scope: Scope, level: Level) -> int: ...

    async def at_rest(self) -> PlaceReport: ...


class MemoryTable(Protocol):
    """Long-term memory of tenant and user, and its full-text index."""

    async def add(self, scope: Scope, text: str) -> str: ...

    async def all(self, scope: Scope) -> list[KnowledgeChunk]:
        """The owner's memories, oldest first."""
        ...

    async def newest(self, scope: Scope, limit: int) -> list[KnowledgeChunk]:
        """The owner's last memories, newest first."""
        ...

    async def nearest(self, scope: Scope, vector: Vector, limit: int) -> list[KnowledgeChunk]:
        """The owner's memories that lie nearest to a vector, nearest first."""
        ...

    async def match(self, scope: Scope, terms: list[str]) -> list[KnowledgeChunk]:
        """The owner's memories that hold any of the terms, oldest first."""
        ...

    async def get(self, scope: Scope, memory_id: str) -> KnowledgeChunk | None: ...

    async def delete(self, scope: Scope, memory_id: str) -> bool: ...

    async def erase(self, scope: Scope, level: Level) -> int: ...

    async def erase_index(self, scope: Scope, level: Level) -> int: ...

    async def at_rest(self) -> PlaceReport: ...

    async def index_at_rest(self) -> PlaceReport: ...


class ArtifactTable(Protocol):
    """Which artifacts there are; their text lies in the object store."""

    async def put(self, scope: Scope, name: str, path: str, size: int, source: Source | None = None) -> None: ...

    async def source(self, scope: Scope, name: str) -> Source | None:
        """What an artifact was rendered from; None where there is none of that name, or it was not rendered."""
        ...

    async def path(self, scope: Scope, name: str) -> str | None: ...

    async def names(self, scope: Scope) -> list[str]: ...

    async def erase(self, scope: Scope, level: Level) -> int: ...

    async def at_rest(self) -> PlaceReport: ...
