"""The log: JSON lines that locate an event by its redacted scope and hold no text of anybody."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from partywall.canaries import Level, Scope

from .clock import Clock
from .keys import SEPARATOR, Keys, fingerprint
from .store import PlaceReport

Field = str | int | float | bool | None


class Log:
    """One JSON object a line: `at`, `event`, `scope`, then what the event adds."""

    def __init__(self, path: Path, keys: Keys, clock: Clock) -> None:
        self._path = path
        self._keys = keys
        self._clock = clock
        self._guard = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def write(self, event: str, scope: Scope | None, request_id: str | None = None, **fields: Field) -> None:
        """Add a line. A request id is client text: only its fingerprint is kept."""
        line: dict[str, Field] = {"at": round(self._clock.now(), 6), "event": event}
        if scope is not None:
            line["scope"] = self._keys.log(scope)
        if request_id is not None:
            line["request"] = fingerprint(request_id)
        text = json.dumps({**line, **fields}, ensure_ascii=True)
        with self._guard, self._path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    def lines(self) -> list[str]:
        """The log as it stands, oldest first."""
        with self._guard:
            return self._path.read_text(encoding="utf-8").splitlines()

    def erase(self, scope: Scope, level: Level) -> int:
        """Rewrite the log without the lines at or below `level` of the scope; how many went."""
        prefix = self._keys.log_prefix(scope, level)
        with self._guard:
            lines = self._path.read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if not _scope_of(line).startswith(prefix)]
            new = self._path.with_suffix(".new")
            with new.open("w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in kept))
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self._path)
        return len(lines) - len(kept)

    def at_rest(self) -> PlaceReport:
        """Every line, and the scope keys they carry."""
        lines = self.lines()
        return PlaceReport(lines, sorted({key[:-1] for key in map(_scope_of, lines) if key}))


def _scope_of(line: str) -> str:
    key = json.loads(line).get("scope")
    return key + SEPARATOR if key else ""
