"""Journal: histories to and from JSON lines, versioned; a malformed line is refused by its number.

A file holds one or more histories. Each begins with a header line (`"entry": "header"`), entries follow in the
order in which they were recorded. Readers ignore fields they do not know, so that the format can grow. The header's
`entries` says how many follow: a file that was cut short would otherwise be judged by what is left of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from partywall.canaries import Keyring, Level, Scanner
from pydantic import TypeAdapter, ValidationError

from ..errors import HistoryError, UsageError
from .history import VERSION, Completed, Entry, Faulted, Header, History, Invoked, Limited, Seen, Sown

_KINDS = {
    "sown": Sown,
    "invoked": Invoked,
    "completed": Completed,
    "seen": Seen,
    "faulted": Faulted,
    "limited": Limited,
}
_ADAPTERS: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}
_HEADER = TypeAdapter(Header)


def dump(histories: Iterable[History]) -> Iterator[str]:
    """The lines of a journal, each with its line end."""
    for history in histories:
        header = {"entry": "header", "entries": len(history.entries), **asdict(history.header)}
        header["capabilities"]["operations"] = sorted(history.header.capabilities.operations)
        header["capabilities"]["dimensions"] = [level.label for level in sorted(history.header.capabilities.dimensions)]
        header["capabilities"]["watches"] = sorted(history.header.capabilities.watches)
        header["capabilities"]["reach"] = {
            op: _labels(reach) for op, reach in history.header.capabilities.reach.items()
        }
        yield _line(header)
        for entry in history.entries:
            record = asdict(entry)
            if isinstance(entry, Sown):
                record["canary"]["reach"] = _labels(entry.canary.reach)
                record["canary"]["owner"] = asdict(entry.canary.owner)
            yield _line(record)


def write(histories: Iterable[History], path: Path) -> None:
    """Write a journal; the file appears whole or not at all."""
    draft = path.with_name(path.name + ".part")
    with draft.open("w", encoding="utf-8") as file:
        file.writelines(dump(histories))
    draft.replace(path)


def read(path: Path) -> tuple[History, ...]:
    """The histories of a journal file.

    Raises UsageError where the file cannot be read, HistoryError with the line number where it is malformed or
    holds what no honest recorder could have written.
    """
    try:
        with path.open("rb") as file:
            return load(file, str(path))
    except OSError as error:
        raise UsageError(f"cannot read history {str(path)!r}: {error.strerror}") from error


def load(lines: Iterable[bytes | str], name: str = "history") -> tuple[History, ...]:
    """The histories in `lines`; errors as `read`."""
    histories: list[History] = []
    header: Header | None = None
    entries: list[Entry] = []
    witness = _Witness()
    promised: Any = None
    number = 0

    def finished(header: Header) -> History:
        if promised not in (None, len(entries)):
            raise HistoryError(
                f"{name} line {number}: expected {_shown(promised)} entries as the header says, found {len(entries)}"
            )
        return History(header, tuple(entries))

    for number, line in enumerate(lines, 1):
        record = _record(line, name, number)
        kind = record.get("entry")
        if kind == "header":
            if header is not None:
                histories.append(finished(header))
            header, entries, witness = _header(record, name, number), [], _Witness()
            promised = record.get("entries")
            continue
        if header is None:
            raise HistoryError(f"{name} line {number}: expected a header line first, found entry {_shown(kind)}")
        if not isinstance(kind, str) or kind not in _ADAPTERS:
            raise HistoryError(
                f"{name} line {number}: no entry {_shown(kind)}; known: header, {', '.join(sorted(_KINDS))}"
            )
        entry = _entry(kind, record, name, number)
        problem = witness.problem(entry)
        if problem:
            raise HistoryError(f"{name} line {number}: {problem}")
        entries.append(entry)
    if header is None:
        raise HistoryError(f"{name} holds no history: expected a header line, found {number} lines")
    return (*histories, finished(header))


class _Witness:
    """Refuses what no honest recorder writes: it sees one history, line by line."""

    def __init__(self) -> None:
        self._at = -(2**63)
        self._open: set[str] = set()
        self._known: set[str] = set()

    def problem(self, entry: Entry) -> str:
        if entry.at < self._at:
            return f"time runs backwards ({entry.at} after {self._at})"
        self._at = entry.at
        if isinstance(entry, Invoked):
            if entry.probe in self._known:
                return f"probe {entry.probe!r} was invoked twice"
            self._known.add(entry.probe)
            self._open.add(entry.probe)
        elif isinstance(entry, Completed):
            if entry.probe not in self._open:
                return f"probe {entry.probe!r} completed without an open call"
            self._open.discard(entry.probe)
        return ""


def _record(line: bytes | str, name: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise HistoryError(
            f"{name} line {number}: expected a JSON object, found no JSON ({type(error).__name__})"
        ) from error
    if not isinstance(record, dict):
        raise HistoryError(f"{name} line {number}: expected a JSON object, found {type(record).__name__}")
    return record


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _header(record: dict[str, Any], name: str, number: int) -> Header:
    version = record.get("version")
    if version != VERSION:
        raise HistoryError(f"{name} line {number}: history version {_shown(version)} is not known; known: {VERSION}")
    try:
        capabilities = dict(record["capabilities"])
        capabilities["dimensions"] = [_level(label) for label in capabilities["dimensions"]]
        capabilities["reach"] = {op: _levels(reach) for op, reach in capabilities["reach"].items()}
        header: Header = _HEADER.validate_python({**record, "capabilities": capabilities})
        Scanner([Keyring.from_record(keyring) for keyring in header.keyrings], prefix=header.prefix)
        return header
    except (ValidationError, KeyError, TypeError, AttributeError, ValueError, UsageError) as error:
        raise HistoryError(f"{name} line {number}: malformed header: {_why(error)}") from error


def _entry(kind: str, record: dict[str, Any], name: str, number: int) -> Entry:
    try:
        if kind == "sown":
            record["canary"]["reach"] = _levels(record["canary"]["reach"])
        entry: Entry = _ADAPTERS[kind].validate_python(record)
    except (ValidationError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise HistoryError(f"{name} line {number}: malformed entry {kind!r}: {_why(error)}") from error
    return entry


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _labels(reach: Any) -> dict[str, str]:
    return {channel: level.label for channel, level in reach.items()}


def _levels(reach: dict[str, str]) -> dict[str, Level]:
    return {channel: _level(label) for channel, label in reach.items()}


def _level(label: Any) -> Level:
    try:
        return Level[str(label).upper()]
    except KeyError:
        raise ValueError(f"no level {_shown(label)}; known: {', '.join(level.label for level in Level)}") from None


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n"
