"""Findings: a file of JSON lines that only grows, on disk before anything is counted."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partywall.canaries import UsageError


class Findings:
    """Appends findings to `path`, created for its owner alone to read.

    `since` is the length at which the caller last noted where it was: what stands behind it was written by a process
    that died before it could note more, and is recognised when it is found again. Raises UsageError where the file
    cannot be read and written.
    """

    def __init__(self, path: Path, since: int | None = None) -> None:
        self.path = path
        self._ids: set[str] = set()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            self._seam = self._mend(since)
            if since is not None:
                self._ids = self._written(since)
        except OSError as error:
            raise UsageError(f"cannot write findings {str(path)!r}: {error.strerror}") from error

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return os.fstat(self._file).st_size

    def store(self, found: Sequence[dict[str, Any]]) -> None:
        """Write what is not there yet, and return when it is on disk. Raises OSError where it cannot be."""
        fresh = [one for one in found if one["id"] not in self._ids]
        if not fresh:
            return
        data = self._seam + b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in fresh)
        left = memoryview(data)
        start = self.size
        try:
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError:
            # half a line on a full disk would spoil the next one
            self._seam = b"\n" if self.size > start else self._seam
            raise
        self._seam = b""

    def forget(self) -> None:
        """The caller has noted where it is: nothing written so far can be found again."""
        self._ids.clear()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _mend(self, since: int | None) -> bytes:
        """Cut off half a line that a dying process left; what is not known to be ours is ended instead."""
        size = self.size
        if not size or os.pread(self._file, 1, size - 1) == b"\n":
            return b""
        if since is None or since > size:
            return b"\n"
        tail = os.pread(self._file, size - since, since)
        os.ftruncate(self._file, since + tail.rfind(b"\n") + 1)
        return b""

    def _written(self, since: int) -> set[str]:
        lines = os.pread(self._file, max(self.size - since, 0), since).splitlines()
        found = set()
        for line in lines:
            try:
                found.add(json.loads(line)["id"])
            except (ValueError, KeyError, TypeError):
                continue  # not one of ours
        return found
