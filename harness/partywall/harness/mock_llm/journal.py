"""Journal: lines in a file, each hashed with all that came before it, so that none can be lost unseen.

A line is 64 hex digits, a space and the payload; the digits are `SHA-256(digits of the line before |
payload)`, with 64 zeros before the first line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from partywall.canaries import PartywallError, UsageError

_START = b"0" * 64


class JournalError(PartywallError):
    """A journal that no honest writer could have left; names the line."""


class Journal:
    """A file that only grows; UsageError where it exists already or cannot be written."""

    __slots__ = ("_chain", "_file", "_size", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._chain = _START
        self._size = 0
        try:
            self._file = path.open("xb")
        except FileExistsError:
            raise UsageError(f"journal '{path}' exists; a second run never appends to a journal") from None
        except OSError as error:
            raise UsageError(f"journal '{path}' cannot be written: {error.strerror}") from None

    def append(self, payload: bytes) -> int:
        """Write one line; its offset in the file."""
        offset = self._size
        self._chain = _link(self._chain, payload)
        line = b"%b %b\n" % (self._chain, payload)
        self._file.write(line)
        self._file.flush()  # what was seen must outlive the process that saw it
        self._size += len(line)
        return offset

    def read(self, offset: int) -> bytes:
        """The payload of the line at `offset`."""
        with self.path.open("rb") as file:
            file.seek(offset)
            return file.readline()[65:-1]

    def close(self) -> None:
        """Write out what is buffered; reading stays possible."""
        self._file.close()


def verify(path: Path) -> Iterator[bytes]:
    """The payloads of a journal in order; JournalError at the first line that breaks the chain."""
    chain = _START
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            payload = line[65:-1]
            chain = _link(chain, payload)
            if line[:65] != chain + b" " or line[-1:] != b"\n":
                raise JournalError(f"journal '{path}' line {number} does not follow from the lines before it")
            yield payload


def _link(chain: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(chain + payload).hexdigest().encode()
