"""The process that checks may raise, hang, die or never start: no request notices, and nothing of it stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from partywall.harness.judge.verdict import Status
from partywall.harness.online import Limits, PartywallMiddleware

from .marked import ZETA, stored, token
from .served import HEADERS, app, call, reply, until, watched

CHILD = Path(__file__).with_name("broken.py")
ROOT = Path(__file__).parents[3]
PATIENT = Limits(interval=0.005, pause=0.1, closing=60)


def broken(inner: Any, folder: Path, way: str, limits: Limits) -> PartywallMiddleware:
    """Watched by a process that is broken in this way from the start."""
    (folder / "broken").touch()
    served = watched(inner, folder / "f", limits=limits)
    served.apart.command = (sys.executable, str(CHILD), way, str(folder))
    return served


def alive(pid: int) -> bool:
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(told.strip()) and not told.strip().startswith("Z")


@pytest.mark.parametrize("way", ["raising", "hanging", "eating", "dying"])
def test_a_broken_checker_changes_no_byte_and_stops_being_fed(tmp_path: Path, way: str) -> None:
    inner = app(reply("one"), reply("two"))
    served = broken(inner, tmp_path, way, Limits(queue=20, interval=0.002, errors=3, pause=30, hang=0.5, closing=60))
    plain = call(inner)
    assert until(lambda: call(served) != plain or not served.worker.enabled)
    assert call(served) == plain
    assert not served.worker.enabled
    before = served.worker.depth
    call(served)
    assert served.worker.depth <= min(before, 20), "nothing is copied any more"
    assert served.total.errors > 0
    assert served.total.verdict().status is Status.INCONCLUSIVE
    served.close()


def test_a_breaker_closes_again_when_the_checker_has_recovered(tmp_path: Path) -> None:
    served = broken(
        app(reply(token(ZETA))), tmp_path, "raising", Limits(interval=0.005, errors=2, pause=0.1, closing=60)
    )
    assert until(lambda: bool(call(served)) and not served.worker.enabled)
    assert served.total.errors >= 2
    (tmp_path / "broken").unlink()
    assert until(lambda: served.worker.enabled)
    call(served)
    served.close()
    assert stored(tmp_path / "f")
    assert served.total.violations["PW101"] == len(stored(tmp_path / "f"))


def test_one_record_that_breaks_the_checker_costs_no_other(tmp_path: Path) -> None:
    served = broken(app(reply(token(ZETA))), tmp_path, "picky", Limits(interval=60, closing=60))
    for trace in (b"r1", b"bad", b"r2"):
        call(served, headers=[*HEADERS[:3], (b"x-request-id", trace)])
    served.close()
    assert [one["trace"] for one in stored(tmp_path / "f")] == ["r1", "r2"]
    assert served.total.skipped["error"] == 1


def test_a_full_disk_loses_no_finding_and_counts_none_before_it_is_stored(tmp_path: Path) -> None:
    served = broken(app(reply(token(ZETA))), tmp_path, "full", Limits(interval=0.005, errors=1, pause=0.05, closing=60))
    call(served)
    assert until(lambda: served.total.errors > 0)
    assert not served.total.violations
    (tmp_path / "broken").unlink()
    assert until(lambda: served.total.violations["PW101"] == 1)
    assert len(stored(tmp_path / "f")) == 1
    served.close()


def test_a_killed_process_is_started_again_and_what_it_had_counted_stays(tmp_path: Path) -> None:
    served = watched(app(reply(token(ZETA))), tmp_path / "f", limits=PATIENT)
    call(served)
    assert until(lambda: served.total.violations["PW101"] == 1)
    killed = served.apart.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert until(lambda: served.apart.pid not in (None, killed))
    call(served)
    served.close()
    assert served.total.violations["PW101"] == 2
    assert served.total.errors == 1


def test_a_process_that_keeps_dying_is_started_so_often_and_no_more(tmp_path: Path) -> None:
    limits = Limits(interval=0.002, errors=2, pause=0.01, closing=60)
    served = broken(app(reply("x")), tmp_path, "dying", limits)
    assert until(lambda: bool(call(served)) and served.total.errors >= 5)
    served.close()
    assert len((tmp_path / "starts").read_text().split()) == 2
    assert served.total.skipped["error"] > 0
    assert served.total.seen == served.total.skipped["error"]


def test_a_process_that_cannot_be_started_is_told_and_harms_nobody(tmp_path: Path) -> None:
    inner = app(reply("x"))
    served = watched(inner, tmp_path / "f", limits=Limits(interval=0.002, errors=2, pause=30, closing=60))
    served.apart.command = (str(tmp_path / "nothing"),)
    assert call(served) == call(inner)
    assert until(lambda: not served.worker.enabled)
    assert call(served) == call(inner)
    assert served.total.skipped["error"] == served.total.seen == 1
    served.close()


def test_closing_ends_the_process(tmp_path: Path) -> None:
    served = watched(app(reply("x")), tmp_path / "f", limits=PATIENT)
    call(served)
    assert until(lambda: served.total.seen == 1)
    pid = served.apart.pid
    assert pid is not None
    served.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert served.total.verdict().status is Status.INCONCLUSIVE, "no canary has flowed"


_PARENT = """
import sys, time
from pathlib import Path
from tests.harness.online.served import app, call, reply, until
from tests.harness.online.test_apart import Limits, broken
served = broken(app(reply("x")), Path(sys.argv[1]), sys.argv[2], Limits(interval=0.005, hang=2))
call(served)
until(lambda: served.apart.pid is not None)
print(served.apart.pid, flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("way", ["idle", "hanging"])
def test_a_parent_that_is_killed_leaves_no_process_behind(tmp_path: Path, way: str) -> None:
    command = [sys.executable, "-c", _PARENT, str(tmp_path), way]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    assert until(lambda: not alive(pid))
