"""A purge killed at any point is ended by the next start: nothing is left of its owner, a neighbour has all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from partywall.reference_impl.purge import PLACES

from .deployment import Deploy, Deployment
from .dying_purge import ANN, DOOMED, KEPT, NEIGHBOUR

PROGRAM = Path(__file__).with_name("dying_purge.py")
POINTS = 3 * (len(PLACES) + 2) + 2 * 3 + 2
"""Before each place, after it, after its confirmation; around the three that are erased again; before and after the job
is forgotten."""

LAYOUTS = ("sqlite", "sqlite-per-tenant")


def killed_at(folder: Path, point: int, settings: str = "{}") -> str:
    """Run the program until it dies; the point it died at, in words."""
    program = [sys.executable, str(PROGRAM), str(folder), str(point), settings]
    ended = subprocess.run(program, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    return ended.stdout.strip().splitlines()[-1].partition(" ")[2]


def assert_whole(deployment: Deployment, raw: bytes | None) -> None:
    """The purged tenant is nowhere, its neighbour everywhere."""
    deployment.runner.run(deployment.system.purge.resume())
    stored = deployment.view("stored_bytes")
    assert DOOMED not in str(stored)
    assert "tenant-1|" not in str(deployment.view("stored_keys"))
    for place in ("main", "index", "objects"):
        assert KEPT in str(stored[place])
    assert [turn["turn"] for turn in deployment.value("list_turns", NEIGHBOUR)] == [1, 2, 3]
    assert len(deployment.value("search_memory", NEIGHBOUR, query=KEPT)) == 1
    assert deployment.value("get_artifact", NEIGHBOUR, name="report") == KEPT
    assert len(deployment.value("list_facts", NEIGHBOUR)) == 3
    assert deployment.runner.run(deployment.system.purge.resume()) == 0
    if raw is not None:
        assert DOOMED.encode() not in raw
    assert deployment.value("list_turns", ANN) == []
    assert deployment.value("append_turn", ANN, text="anew")["turn"] == 1


def raw_bytes(folder: Path) -> bytes:
    """Every byte of every file below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_program_dies_at_every_point_and_at_no_further_one(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, str(PROGRAM), str(tmp_path), str(POINTS)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stdout.splitlines()) == POINTS


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("point", [1, 10, POINTS - 2])
def test_a_purge_killed_at_some_points_is_ended_by_the_next_start(
    deploy: Deploy, tmp_path: Path, point: int, layout: str
) -> None:
    _killed_and_resumed(deploy, tmp_path, point, layout)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("point", range(POINTS))
def test_a_purge_killed_at_any_point_is_ended_by_the_next_start(
    deploy: Deploy, tmp_path: Path, point: int, layout: str
) -> None:
    _killed_and_resumed(deploy, tmp_path, point, layout)


def _killed_and_resumed(deploy: Deploy, tmp_path: Path, point: int, layout: str) -> None:
    settings: dict[str, Any] = {"store": layout}
    assert killed_at(tmp_path / "shared", point, json.dumps(settings))
    deployment = deploy(folder="shared", **settings)
    deployment.runner.run(deployment.system.purge.resume())
    assert_whole(deployment, raw_bytes(tmp_path / "shared"))
