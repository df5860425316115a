"""Tail: the lines of a growing file, through rotation, truncation, half lines and lines without end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from partywall.canaries import UsageError

BATCH = 1 << 20
"""Bytes read at a time: what a process that dies makes its successor read again, at most."""
LONGEST = 1 << 20

_WITNESS = 256
_OVERLAP = 512


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a file: the first byte that has not been dealt with, and a hash of the few bytes before it.

    The file is known by device and inode, which rotation keeps, and by the hash: a file that was emptied and written
    anew has other bytes there.
    """

    device: int
    inode: int
    offset: int
    witness: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, and where it began. `long` marks a piece of one too long to be held, `rest` a piece that
    is not the first; pieces overlap, so that no canary is cut."""

    offset: int
    raw: bytes
    long: bool = False
    rest: bool = False


class Tail:
    """Reads on from `mark`, or from the start; never holds more than one batch and one line.

    Raises UsageError where there is no such file to begin with, or it cannot be read.
    """

    def __init__(self, path: Path, mark: Mark | None = None, longest: int = LONGEST) -> None:
        self.path = path
        self.restarts = 0
        """How often a file was cut short, or was not the one that the mark was made in."""
        self._longest = longest
        self._lingered = False
        self._file = -1
        self._files = 0
        first = path
        if mark is not None and not _holds(path, mark):
            first = _renamed(path, mark) or path
            self.restarts += first == path
            mark = mark if first != path else None
        self._open(first, mark.offset if mark else 0)

    def mark(self) -> Mark:
        """Where the next process must go on: behind the last line that was handed out."""
        status = os.fstat(self._file)
        return Mark(status.st_dev, status.st_ino, self._offset, _witness(self._file, self._offset))

    @property
    def progress(self) -> tuple[int, int]:
        """Changes with every byte read and every file begun."""
        return self._files, self._read_at

    def read(self, final: bool = False) -> list[Line]:
        """The next lines, which may be none though there was progress: a line need not end where a batch does.

        With `final` a file that was renamed is left as soon as it ends. Its last line then counts as whole, and so may
        the last one of all: see `half`.
        """
        self._notice_cut()
        data = os.read(self._file, BATCH)
        self._read_at += len(data)
        if data:
            self._lingered = False
            return list(self._lines(data))
        return self._next_file(final)

    def half(self) -> Line | None:
        """The line that has no end yet."""
        return Line(self._offset, bytes(self._held)) if self._held and not self._long else None

    def take_half(self) -> None:
        """The line without an end has been dealt with."""
        self._offset += len(self._held)
        self._held.clear()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _open(self, path: Path, offset: int) -> None:
        try:
            file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            os.read(file, 0)
        except FileNotFoundError as error:
            raise UsageError(f"no file {str(path)!r}") from error
        except OSError as error:
            raise UsageError(f"cannot read {str(path)!r}: {error.strerror}") from error
        if not os.path.isfile(path):
            os.close(file)
            raise UsageError(f"{str(path)!r} is no regular file, so no place in it can be remembered")
        if self._file >= 0:
            os.close(self._file)
        self._file = file
        self._begin(offset)

    def _begin(self, offset: int) -> None:
        os.lseek(self._file, offset, os.SEEK_SET)
        self._files += 1
        self._offset = self._read_at = offset
        self._held = bytearray()
        self._long = False
        self._seen = os.pread(self._file, min(_WITNESS, offset), max(offset - _WITNESS, 0))

    def _notice_cut(self) -> None:
        """A file emptied in place is read from its start; also one that has since grown past where we were."""
        before = os.pread(self._file, len(self._seen), self._read_at - len(self._seen))
        if before != self._seen:
            self.restarts += 1
            self._begin(0)

    def _lines(self, data: bytes) -> Iterator[Line]:
        self._seen = (self._seen + data[-_WITNESS:])[-_WITNESS:]
        self._held += data
        *whole, rest = bytes(self._held).split(b"\n")
        for raw in whole:
            yield from self._line(raw)
            self._offset += len(raw) + 1
            self._long = False
        self._held = bytearray(rest)
        if len(rest) > self._longest:
            yield Line(self._offset, rest, True, self._long)
            self._long = True
            self._offset += len(rest) - _OVERLAP
            self._held = bytearray(rest[-_OVERLAP:])

    def _line(self, raw: bytes) -> Iterator[Line]:
        if self._long or len(raw) > self._longest:
            yield Line(self._offset, raw, True, self._long)
        elif raw.strip(b"\0\r \t"):
            yield Line(self._offset, raw)

    def _next_file(self, final: bool) -> list[Line]:
        """At the end: go over to the file that now bears the name, if that is another one."""
        try:
            status, ours = os.stat(self.path), os.fstat(self._file)
        except OSError:
            return []  # renamed away, and the new one not made yet
        if (status.st_dev, status.st_ino) == (ours.st_dev, ours.st_ino):
            return []
        if not final and not self._lingered:
            self._lingered = True  # whoever writes may not have let go of the old one yet
            return []
        self._lingered = False
        last = self.half()
        self._open(self.path, 0)
        lines = [last] if last else []
        return lines or self.read(final)


def _holds(path: Path, mark: Mark) -> bool:
    """Whether a file is the one that `mark` was made in."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        status = os.fstat(file)
        same = (status.st_dev, status.st_ino) == (mark.device, mark.inode)
        return same and status.st_size >= mark.offset and _witness(file, mark.offset) == mark.witness
    finally:
        os.close(file)


def _renamed(path: Path, mark: Mark) -> Path | None:
    """The file of `mark` under the name that rotation gave it: `app.log.1`, `app.log-20250301`."""
    try:
        with os.scandir(path.parent) as entries:
            likely = [Path(entry.path) for entry in entries if entry.name.startswith(path.stem)]
    except OSError:
        return None
    return next((other for other in likely if other.is_file() and other != path and _holds(other, mark)), None)


def _witness(file: int, offset: int) -> str:
    start = max(offset - _WITNESS, 0)
    return blake2b(os.pread(file, offset - start, start), digest_size=16).hexdigest()
