"""The object store: text under keys that are relative paths, in a folder or wherever fsspec reaches."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from partywall.canaries import UsageError

from .keys import Key
from .store import PlaceReport


class Objects(Protocol):
    """What artifacts ask of an object store. A write is there whole or not at all."""

    async def write(self, path: Key, text: str) -> None: ...

    async def read(self, path: Key) -> str | None:
        """The text under `path`; None where there is none."""
        ...

    async def erase(self, root: Key) -> int:
        """Remove everything below `root`, a folder of whole path segments; how many objects."""
        ...

    async def at_rest(self) -> PlaceReport: ...


class FolderObjects:
    """Files below one folder; a write has reached the disk when it is acknowledged."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(parents=True, exist_ok=True)

    async def write(self, path: Key, text: str) -> None:
        await asyncio.to_thread(self._write, self._root / path, text)

    async def read(self, path: Key) -> str | None:
        try:
            raw = await asyncio.to_thread((self._root / path).read_bytes)
        except FileNotFoundError:
            return None
        return raw.decode("utf-8")

    async def erase(self, root: Key) -> int:
        folder = self._root / root

        def remove() -> int:
            found = sum(1 for path in folder.rglob("*") if path.is_file())
            shutil.rmtree(folder, ignore_errors=True)
            if folder.exists():
                raise OSError(f"the object store could not remove {found} objects")
            return found

        return await asyncio.to_thread(remove)

    async def at_rest(self) -> PlaceReport:
        def read() -> PlaceReport:
            paths = sorted(path for path in self._root.rglob("*") if path.is_file())
            texts = (path.read_bytes() for path in paths)
            return _report(texts, (path.relative_to(self._root).as_posix() for path in paths))

        return await asyncio.to_thread(read)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"~new-{uuid4().hex}")
        with new.open("wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)


class RemoteObjects:
    """Objects below a URL that fsspec knows (`s3://bucket/prefix` with the package s3fs installed, `memory://…`)."""

    def __init__(self, url: str) -> None:
        import fsspec.core  # type: ignore[import-untyped]

        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise UsageError(f"the object store {url.partition('://')[0]!r} cannot be used: {error}") from None

    async def write(self, path: Key, text: str) -> None:
        await asyncio.to_thread(self._files.pipe_file, self._at(path), text.encode("utf-8"))

    async def read(self, path: Key) -> str | None:
        try:
            raw: bytes = await asyncio.to_thread(self._files.cat_file, self._at(path))
        except FileNotFoundError:
            return None
        return raw.decode("utf-8")

    async def erase(self, root: Key) -> int:
        def remove() -> int:
            found = self._below(self._at(root))
            if found:
                self._files.rm(found)
            return len(found)

        return await asyncio.to_thread(remove)

    async def at_rest(self) -> PlaceReport:
        def read() -> PlaceReport:
            paths = self._below(self._root)
            start = len(self._root.rstrip("/")) + 1
            return _report((self._files.cat_file(path) for path in paths), (path[start:] for path in paths))

        return await asyncio.to_thread(read)

    def _at(self, path: Key) -> str:
        return f"{self._root.rstrip('/')}/{path}"

    def _below(self, folder: str) -> list[str]:
        # With the closing slash: in a flat bucket `t1` is a prefix of `t10/…`.
        self._files.invalidate_cache()
        closed = folder.rstrip("/") + "/"
        return sorted(path for path in self._files.find(closed) if path.startswith(closed))


def open_objects(url: str, folder: Path) -> Objects:
    """The object store at `url`, or below `folder` where no URL is given. Raises UsageError for one that cannot be."""
    return RemoteObjects(url) if url else FolderObjects(folder)


def _report(texts: Iterable[bytes], paths: Iterable[str]) -> PlaceReport:
    return PlaceReport([text.decode("utf-8", "replace") for text in texts], list(paths))
