"""The Python files below some paths, and what is found in all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from ..errors import UsageError
from .check import Unread, check_source
from .finding import Finding
from .makers import Makers

MOST_BYTES = 4 * 1024 * 1024
"""A file longer than that is told and not read: nobody wrote it by hand."""

_SKIPPED = frozenset({"node_modules", "site-packages", "dist-packages", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True)
class Report:
    """What was found: findings in order, what could not be read, how many files were read and findings suppressed."""

    findings: tuple[Finding, ...]
    unread: tuple[Unread, ...]
    files: int
    suppressed: int


def check_paths(paths: Iterable[str | Path], makers: Iterable[str] = (), exclude: Iterable[str] = ()) -> Report:
    """Check every Python file at or below the paths.

    Hidden folders, virtual environments, node_modules and site-packages below a path are left out, and what matches a
    glob of `exclude` by its path below the given one or by its name. UsageError where a path is not there, holds no
    Python file, or a maker is no name.
    """
    Makers(makers)
    globs = tuple(exclude)
    findings: list[Finding] = []
    unread: list[Unread] = []
    seen: set[str] = set()
    suppressed = 0
    for path in paths:
        files, problems = _files(str(path), globs)
        unread += problems
        if not files and not problems:
            left = " that is not excluded" if globs else ""
            raise UsageError(f"no Python file{left} in {str(path)!r}")
        for file in files:
            if (real := os.path.realpath(file)) in seen:
                continue
            seen.add(real)
            source = _source(file)
            if isinstance(source, Unread):
                unread.append(source)
                continue
            checked = check_source(source, file, makers)
            findings += checked.findings
            suppressed += checked.suppressed
            unread += [checked.unread] if checked.unread else []
    return Report(tuple(findings), tuple(unread), len(seen), suppressed)


def _files(path: str, exclude: tuple[str, ...]) -> tuple[list[str], list[Unread]]:
    if not os.path.lexists(path) or (os.path.islink(path) and not os.path.exists(path)):
        raise UsageError(f"no file or folder {path!r}")
    if not os.path.isdir(path):
        named = path.endswith((".py", ".pyi")) and os.path.isfile(path)
        return ([path] if named and not _excluded(os.path.basename(path), exclude) else []), []
    problems: list[Unread] = []

    def failed(error: OSError) -> None:
        problems.append(Unread(str(error.filename), 0, error.strerror or str(error)))

    return sorted(_below(path, exclude, failed)), problems


def _below(path: str, exclude: tuple[str, ...], failed: object) -> Iterator[str]:
    for folder, folders, names in os.walk(path, onerror=failed):  # type: ignore[arg-type]
        inside = os.path.relpath(folder, path)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
            and not _excluded(os.path.normpath(os.path.join(inside, name)), exclude)
        )
        for name in names:
            whole = os.path.join(folder, name)
            wanted = name.endswith((".py", ".pyi")) and not _excluded(
                os.path.normpath(os.path.join(inside, name)), exclude
            )
            if wanted and os.path.isfile(whole):  # pipes would be waited for
                yield whole


def _excluded(inside: str, exclude: tuple[str, ...]) -> bool:
    name = os.path.basename(inside)
    posix = inside.replace(os.sep, "/")
    return any(fnmatch(posix, glob.rstrip("/")) or fnmatch(name, glob.rstrip("/")) for glob in exclude)


def _source(file: str) -> bytes | Unread:
    try:
        with open(file, "rb") as opened:
            raw = opened.read(MOST_BYTES + 1)
    except OSError as error:
        return Unread(file, 0, error.strerror or str(error))
    return (
        raw if len(raw) <= MOST_BYTES else Unread(file, 0, f"longer than {MOST_BYTES} bytes: nobody wrote it by hand")
    )
