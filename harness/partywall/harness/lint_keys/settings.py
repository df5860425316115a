"""Settings: `[tool.partywall.lint-keys]` of the nearest pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError, unknown

_KNOWN = ("exclude", "makers")


@dataclass(frozen=True, slots=True)
class Settings:
    """Names of functions and classes that make keys, and globs of what is left out."""

    makers: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


def settings_for(path: Path) -> Settings:
    """The settings of the nearest pyproject.toml at or above `path`; none where there is no such file.

    UsageError where it cannot be read, or says something else than lists of names.
    """
    start = path.absolute()
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return _read(file)
    return Settings()


def _read(file: Path) -> Settings:
    try:
        table: object = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: {error}") from error
    for name in ("tool", "partywall", "lint-keys"):
        table = table.get(name, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(f"{file}: tool.partywall.lint-keys is no table")
    for name in table:
        if name not in _KNOWN:
            raise UsageError(f"{file}: {unknown('key of tool.partywall.lint-keys', name, _KNOWN)}")
    return Settings(makers=_names(file, table, "makers"), exclude=_names(file, table, "exclude"))


def _names(file: Path, table: dict[str, object], name: str) -> tuple[str, ...]:
    given = table.get(name, [])
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise UsageError(f"{file}: {name} in tool.partywall.lint-keys is no list of texts")
    return tuple(given)
