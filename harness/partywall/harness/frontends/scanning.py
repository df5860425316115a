"""Scanning: files, folders and standard input, read in pieces, told as JSON lines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from partywall.canaries import Level, Scan, Scanner, ScopeError, Sighting, UsageError

from ..errors import unknown
from ..exits import Exit
from ..plan.identity import RawPath

_PIECE = 1 << 20


def observer_of(text: str) -> tuple[RawPath, Level]:
    """The path and the innermost level that `tenant=…,user=…` names.

    Raises UsageError for a name that is no level, and ScopeError where an outer level is left out: a user means
    nothing without its tenant.
    """
    given: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or name.strip() not in [level.label for level in Level]:
            raise unknown("observer level", name.strip(), [level.label for level in Level])
        if name.strip() in given:
            raise UsageError(f"observer {text!r} names the {name.strip()} twice")
        given[name.strip()] = value
    ids: list[str | None] = []
    for level in Level:
        if level.label in given:
            if len(ids) != level - 1:
                raise ScopeError(f"observer {text!r} names a {level.label} but not every level above it")
            ids.append(given[level.label])
    deepest = Level(len(ids))
    padded = [*ids, None, None, None, None]
    return (padded[0], padded[1], padded[2], padded[3]), deepest


class Scanning:
    """Scans one place after the other and keeps count. `observer` is whose place it is, and how deep it is named."""

    def __init__(self, scanner: Scanner, observer: tuple[RawPath, Level] | None) -> None:
        self._scanner = scanner
        self._observer = observer
        self._files = self._canaries = self._foreign = self._damaged = 0
        self._limited: list[str] = []
        self._unread: list[str] = []

    @property
    def exit_code(self) -> int:
        """2 where something could not be read, else 1 where something was foreign, else 4 where a bound was hit."""
        if self._unread:
            return int(Exit.USAGE)
        if self._foreign:
            return int(Exit.VIOLATED)
        return int(Exit.INCONCLUSIVE if self._limited else Exit.HELD)

    def path(self, path: str) -> Iterator[str]:
        """The JSON lines of one file, of every file of a folder, or of standard input (`-`)."""
        if path == "-":
            yield from self._stream(sys.stdin.buffer, "-")
        elif os.path.isdir(path):  # not Path.is_dir, which raises for a name too long to exist
            for folder, _, names in os.walk(path, onerror=self._unreadable):
                for name in sorted(names):
                    file = Path(folder) / name
                    if file.is_file():  # sockets and pipes would be waited for
                        yield from self._file(file)
        elif os.path.exists(path):
            yield from self._file(Path(path))
        else:
            raise UsageError(f"no file or folder {path!r}")

    def summary(self) -> list[str]:
        """What was read, for people."""
        lines = [
            f"{self._files} read, {self._canaries} canaries, {self._foreign} foreign, {self._damaged} damaged marks",
            *(f"error: cannot read {problem}" for problem in self._unread),
            *(f"a bound was hit in {name}: what was not seen there proves nothing" for name in self._limited),
        ]
        if not self._canaries and not self._unread:
            lines.append("no canary was seen: that proves nothing about a place where none ever flowed")
        return lines

    def _file(self, path: Path) -> Iterator[str]:
        try:
            with path.open("rb") as file:
                yield from self._stream(file, str(path))
        except OSError as error:
            self._unreadable(error, str(path))

    def _unreadable(self, error: OSError, path: str = "") -> None:
        self._unread.append(f"{(path or str(error.filename))!r}: {error.strerror}")

    def _stream(self, file: BinaryIO, name: str) -> Iterator[str]:
        self._files += 1
        scan = self._scanner.chunks(iter(lambda: file.read(_PIECE), b""))
        self._damaged += scan.damaged
        if scan.limited:
            self._limited.append(name)
        for sighting in scan.sightings:
            yield self._line(name, scan, sighting)

    def _line(self, name: str, scan: Scan, sighting: Sighting) -> str:
        self._canaries += 1
        opened = sighting.opened
        record: dict[str, object] = {
            "path": name,
            "start": sighting.start,
            "end": sighting.end,
            "level": sighting.level,
            "decoded": list(sighting.chain),
            "canary": opened.short,
            "kind": opened.kind,
            "seq": opened.seq,
            "epoch": opened.epoch,
        }
        if self._observer is not None:
            path, deepest = self._observer
            parted = opened.boundary(path)
            foreign = parted is not None and parted <= deepest
            self._foreign += foreign
            record["foreign"] = foreign
            record["boundary"] = parted.label if foreign and parted is not None else None
        return json.dumps(record)
