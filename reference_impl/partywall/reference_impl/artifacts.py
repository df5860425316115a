"""Artifacts: text in the object store, under a path that the scope makes."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from uuid import uuid4

from partywall.canaries import Level, Scope

from .keys import Keys
from .store import ArtifactTable, PlaceReport


class Artifacts:
    """Put, get and list the artifacts of one task."""

    def __init__(self, root: Path, keys: Keys, table: ArtifactTable) -> None:
        self._root = root
        self._keys = keys
        self._table = table
        root.mkdir(parents=True, exist_ok=True)

    async def put(self, scope: Scope, name: str, text: str) -> None:
        """Keep `text` under `name`; a later text of that name takes its place. ScopeError without a task."""
        scope.require(Level.TASK)
        path = self._keys.artifact(scope, name)
        await asyncio.to_thread(self._write, self._root / path, text)
        await self._table.put(scope, name, str(path))

    async def get(self, scope: Scope, name: str) -> str | None:
        """The text of `name`; None where this task has none."""
        path = await self._table.path(scope, name)
        if path is None:
            return None
        try:
            raw = await asyncio.to_thread((self._root / path).read_bytes)
        except FileNotFoundError:
            return None
        return raw.decode("utf-8")

    async def names(self, scope: Scope) -> list[str]:
        """The names of the task's artifacts."""
        return await self._table.names(scope)

    async def erase(self, scope: Scope, level: Level) -> int:
        """Remove the files at or below `level` of the scope; how many."""
        folder = self._root / self._keys.artifact_root(scope, level)

        def remove() -> int:
            found = sum(1 for path in folder.rglob("*") if path.is_file())
            shutil.rmtree(folder, ignore_errors=True)
            return found

        return await asyncio.to_thread(remove)

    async def at_rest(self) -> PlaceReport:
        """Every file: its text and its path."""

        def read() -> PlaceReport:
            paths = sorted(path for path in self._root.rglob("*") if path.is_file())
            texts = [path.read_bytes().decode("utf-8", "replace") for path in paths]
            return PlaceReport(texts, [path.relative_to(self._root).as_posix() for path in paths])

        return await asyncio.to_thread(read)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"~new-{uuid4().hex}")
        with new.open("wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
