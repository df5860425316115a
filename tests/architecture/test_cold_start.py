"""The command starts cold: telling its version loads none of the heavy libraries."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .source import REPOSITORY

CLI = REPOSITORY / "harness" / "partywall" / "harness" / "frontends" / "cli"
HEAVY = {"locust", "gevent", "hypothesis", "httpx", "faker", "fastapi"}
PROGRAM = """
import atexit, sys
atexit.register(lambda: print("loaded:", *sorted({name.split(".")[0] for name in sys.modules})))
sys.argv = ["partywall", *sys.argv[1:]]
%s
"""
MAIN = "from partywall.harness.frontends.cli import main; sys.exit(main())"


def loaded(program: str, *arguments: str) -> tuple[str, set[str]]:
    """What the program printed, and the top-level modules it had loaded when it ended."""
    command = [sys.executable, "-c", PROGRAM % program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    printed, _, names = done.stdout.rpartition("loaded:")
    return printed, set(names.split())


def test_the_probe_sees_a_library_that_is_loaded_late() -> None:
    assert "hypothesis" in loaded("def late():\n    import hypothesis\nlate()")[1]


@pytest.mark.skipif(
    not (CLI.with_suffix(".py").exists() or (CLI / "__init__.py").exists()),
    reason="there is no command line yet",
)
def test_the_version_loads_none_of_the_heavy_libraries() -> None:
    printed, names = loaded(MAIN, "--version")
    assert "partywall" in printed
    assert names & HEAVY == set()
