"""Bookmark: how far a log has been read, kept next to the findings, written after them and whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from partywall.canaries import UsageError

from .tail import Mark
from .tally import Tally

VERSION = 1
_SUFFIX = ".state"


@dataclass(slots=True)
class Bookmark:
    """Where one log was left.

    `findings` is the length of the findings file then, `imports` who had put what in, `run` the counts of a run that
    has not ended: the one that follows goes on counting, so that no exit code forgets what a dying run found.
    """

    mark: Mark | None = None
    findings: int | None = None
    imports: list[str] = field(default_factory=list)
    run: Tally | None = None


class Shelf:
    """The bookmarks of all logs that share a findings file; one process at a time may hold it.

    Raises UsageError where another process does, or the file cannot be read, written or understood.
    """

    def __init__(self, findings: Path) -> None:
        self._findings = findings
        self.path = findings.with_name(findings.name + _SUFFIX)
        self._lock = self._locked()
        self._sources = self._read()

    def get(self, source: str) -> Bookmark:
        """The bookmark of a log; a new one where there is none."""
        record = self._sources.get(source)
        if record is None:
            return Bookmark()
        try:
            mark = Mark(**record["mark"]) if record["mark"] else None
            run = Tally.from_record(record["run"]) if record["run"] is not None else None
            return Bookmark(mark, int(record["findings"]), [str(one) for one in record["imports"]], run)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._spoiled() from error

    def put(self, source: str, bookmark: Bookmark) -> None:
        """Store the bookmark of a log, and return when it is on disk. Raises OSError where it cannot be."""
        run = bookmark.run.to_record() if bookmark.run is not None else None
        mark = asdict(bookmark.mark) if bookmark.mark else None
        record = {"mark": mark, "findings": bookmark.findings, "imports": bookmark.imports, "run": run}
        self._sources[source] = record
        draft = self.path.with_name(self.path.name + ".part")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, "sources": self._sources}, file, separators=(",", ":"))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)

    def close(self) -> None:
        """Let another process have it."""
        os.close(self._lock)

    def _locked(self) -> int:
        lock = self.path.with_name(self.path.name + ".lock")
        try:
            held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UsageError(f"cannot write beside findings {str(self._findings)!r}: {error.strerror}") from error
        try:
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # no such locks on this system: two processes at once are then the operator's to avoid
        except OSError as error:
            os.close(held)
            raise UsageError(f"another process is watching into findings {str(self._findings)!r}") from error
        return held

    def _read(self) -> dict[str, Any]:
        try:
            record = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UsageError(f"cannot read state {str(self.path)!r}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise self._spoiled() from error
        sources = record.get("sources") if isinstance(record, Mapping) else None
        if not isinstance(sources, dict) or record.get("version") != VERSION:
            raise self._spoiled()
        return sources

    def _spoiled(self) -> UsageError:
        return UsageError(
            f"state {str(self.path)!r} is not what a watch wrote; remove it to read the log from its start"
        )
