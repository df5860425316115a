"""The command in this process, in an empty working directory."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from partywall.harness.frontends.cli import _run

_NUMBERS = itertools.count()


class Told(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory; modules in it can be imported during the test only."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv("PARTYWALL_KEY", raising=False)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("adapter_"):
            del sys.modules[name]


@pytest.fixture
def command(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    """Run `partywall` with these arguments."""

    def run(*arguments: str) -> Told:
        capfd.readouterr()
        code = _run([str(argument) for argument in arguments])
        return Told(code, *capfd.readouterr())

    return run


@pytest.fixture
def adapter(folder: Path) -> Callable[[str], str]:
    """Write a module and give its name: every module has a name of its own, since Python remembers them."""

    def write(source: str) -> str:
        name = f"adapter_{next(_NUMBERS)}"
        (folder / f"{name}.py").write_text(source)
        return name

    return write
