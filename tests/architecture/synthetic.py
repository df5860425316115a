"""Small trees that break one rule each: a rule that was never seen red proves nothing when it is green."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from .source import ROOTS

Rule = Callable[[Path], list[str]]


def plant(root: Path, files: Mapping[str, str]) -> Path:
    """Write `files` below `root`; `harness/run.py` stands for `harness/partywall/harness/run.py`."""
    for name, text in files.items():
        first, _, rest = name.partition("/")
        path = root / first / "partywall" / first / rest if first in ROOTS else root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def rules_of(module: ModuleType) -> dict[str, Rule]:
    """The rules that a module offers, by name: its public functions from a root to a list of sentences."""
    return {
        name: value
        for name, value in sorted(vars(module).items())
        if getattr(value, "__annotations__", None) == {"root": "Path", "return": "list[str]"}
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
