"""`doctor` says what a target is like: 0 where all is well, 4 where something is blind, 2 and 3 as everywhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .adapters import RIGHT
from .conftest import Told

Command = Callable[..., Told]
Adapter = Callable[[str], str]

PATIENTS: dict[str, tuple[str, int, str]] = {
    "right": ("    pass", 0, "✔ the owner sees its own by turns"),
    "refuses what never was": (
        "    def list_turns(self, call, limit=None):\n"
        "        if self.key(call) not in self.turns: raise Refused('no such session', 'not_found')\n"
        "        return super().list_turns(call, limit)",
        0,
        "✔ list_turns of a session that never was shows nothing: fail, empty",
    ),
    "drops": (
        "    def append_turn(self, call, text, role='user', expected_version=None): return None",
        4,
        "✘ the owner sees its own by turns",
    ),
    "denies": (
        "    def list_turns(self, call, limit=None): raise Refused('no\\x1b[2J', 'denied')",
        4,
        "✘ list_turns answers: fail (denied: no",
    ),
    "makes things up": (
        "    def list_turns(self, call, limit=None): return ['hello'] + [t['text'] for t in super().list_turns(call)]",
        4,
        "✘ list_turns of a session that never was shows nothing: ok, with content",
    ),
    "breaks the contract": ("    def list_turns(self, call, limit=None): return 7", 2, "list_turns returned a int"),
    "cannot be opened": ("    def __init__(self): raise OSError('no disk')", 3, "did not open: OSError: no disk"),
}


@pytest.mark.parametrize(("body", "code", "line"), PATIENTS.values(), ids=list(PATIENTS))
def test_a_target_is_examined(body: str, code: int, line: str, command: Command, adapter: Adapter) -> None:
    name = adapter(f"{RIGHT}\nclass Adapter(Right):\n{body}\n")
    told = command("doctor", "--target", f"{name}:Adapter", "--timeout", "0.5")
    assert told.code == code, told
    assert line in told.out + told.err
    assert "\x1b" not in told.out + told.err
    assert "Traceback" not in told.err


def test_what_the_target_keeps_apart_is_told_first(command: Command, adapter: Adapter) -> None:
    name = adapter(f"{RIGHT}\nclass Adapter(Right):\n    dimensions = ('tenant', 'user')\n")
    told = command("doctor", "--target", f"{name}:Adapter")
    assert told.out.splitlines()[0].endswith("keeps apart tenant, user")
