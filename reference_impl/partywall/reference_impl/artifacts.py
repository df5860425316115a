"""Artifacts: text in the object store, under a path that the scope makes."""

from __future__ import annotations

from partywall.canaries import Level, Scope

from .keys import Keys
from .objects import Objects
from .store import ArtifactTable, PlaceReport
from .store.contract import Source


class Artifacts:
    """Put, get and list the artifacts of one task."""

    def __init__(self, objects: Objects, keys: Keys, table: ArtifactTable) -> None:
        self._objects = objects
        self._keys = keys
        self._table = table

    async def put(self, scope: Scope, name: str, text: str, source: Source | None = None) -> None:
        """Keep `text` under `name`; a later text of that name takes its place. ScopeError without a task.

        `source` is what it was rendered from, so that it can be made again.
        """
        path = self._keys.artifact(scope.require(Level.TASK), name)
        await self._objects.write(path, text)
        await self._table.put(scope, name, path, len(text.encode("utf-8")), source)

    async def get(self, scope: Scope, name: str) -> str | None:
        """The text of `name`; None where this task has none."""
        known = await self._table.path(scope, name)
        return None if known is None else await self._objects.read(self._keys.artifact(scope, name))

    async def names(self, scope: Scope) -> list[str]:
        """The names of the task's artifacts."""
        return await self._table.names(scope)

    async def erase(self, scope: Scope, level: Level) -> int:
        """Remove the objects at or below `level` of the scope; how many."""
        return await self._objects.erase(self._keys.artifact_root(scope, level))

    async def at_rest(self) -> PlaceReport:
        """Every object: its text and its path."""
        return await self._objects.at_rest()
