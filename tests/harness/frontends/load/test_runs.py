"""Two real runs: Locust, the bundled agent and the judge; the right agent is held, the leaking one is told by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ..conftest import Told

Command = Callable[..., Told]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("locust") is None, reason="Locust is not installed: the extra `load`"),
]
RUN = ("load", "--headless", "--users", "8", "--spawn-rate", "8", "--run-time", "6s", "--workers", "2")


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / "results.json").read_text())
    return found


def test_the_reference_is_held_under_load(command: Command, folder: Path) -> None:
    told = command(*RUN, "--target", "reference")
    assert told.code == 0, told.out + told.err
    found = results(folder)
    held = {verdict["check"] for verdict in found["verdicts"] if verdict["status"] == "held"}
    assert {"leak", "control"} <= held
    boundaries = {(cell["boundary"], cell["channel"]) for cell in found["matrix"] if cell["status"] == "held"}
    assert {("tenant", "cache"), ("user", "search"), ("session", "turns"), ("task", "context")} <= boundaries
    load = json.loads((folder / "out" / "load.json").read_text())
    assert load["checked"] == load["requests"] > 50
    assert load["failures"] == 0
    assert command("judge", "out/history.jsonl").code == 0


def test_an_answer_cache_without_a_principal_leaks_between_workers(command: Command, folder: Path) -> None:
    told = command(*RUN, "--target", "reference:mutant=M12")
    assert told.code == 1, told.out + told.err
    found = [finding for verdict in results(folder)["verdicts"] for finding in verdict["findings"]]
    crossed = [finding for finding in found if finding["code"] == "PW101"]
    assert {finding["channel"] for finding in crossed} == {"cache"}
    assert all(finding["owner"] for finding in crossed)  # tenants live in different workers, and are named all the same
    assert json.loads((folder / "out" / "load.json").read_text())["foreign"] > 0
    assert "with a foreign canary" in told.out
