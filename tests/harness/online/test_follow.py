"""Following a log: nothing that was counted is lost, whenever the process dies."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from partywall.canaries import UsageError
from partywall.harness.online import Follower, Log, Settings

from .marked import ACME, KEY, ZETA, line, log, stored, token

PROGRAM = "from partywall.harness.frontends.cli import main; main()"


def follower(path: Path, **more: Any) -> Follower:
    told = more.pop("told", lambda one: None)
    return Follower(Log(path, path.with_name("f.jsonl"), **more), Settings(KEY, rate=0.0), told)


def once(path: Path, **more: Any) -> Follower:
    one = follower(path, **more)
    one.once()
    one.close()
    return one


def test_what_was_read_is_not_read_again_and_what_comes_is(tmp_path: Path) -> None:
    path = log(tmp_path / "l", line(reply=token(ZETA)))
    assert once(path).total.violations == {"PW101": 1}
    assert once(path).total.seen == 0
    with path.open("ab") as file:
        file.write(line(reply=token(ZETA)) + b"\n")
    assert once(path).total.seen == 1
    assert [one["offset"] for one in stored(tmp_path / "f.jsonl")] == [0, path.stat().st_size // 2]
    assert once(path, afresh=True).total.seen == 2


def test_a_last_line_without_an_end_is_judged_if_it_is_whole_and_waited_for_if_not(tmp_path: Path) -> None:
    path = tmp_path / "l"
    whole = line(reply=token(ZETA))
    path.write_bytes(whole + b"\n" + whole[:20])
    assert once(path).total.seen == 1
    path.write_bytes(whole + b"\n" + whole)
    assert once(path).total.violations == {"PW101": 1}
    assert once(path).total.seen == 0


def test_imports_outlive_the_process(tmp_path: Path) -> None:
    path = log(tmp_path / "l", line(input=token(ZETA)))
    once(path)
    with path.open("ab") as file:
        file.write(line(reply=token(ZETA)) + b"\n")
    assert not once(path).total.violations
    assert token(ZETA) not in (tmp_path / "f.jsonl.state").read_text()


def test_findings_that_were_stored_before_a_death_are_counted_and_not_stored_twice(tmp_path: Path) -> None:
    path = log(tmp_path / "l", *(line(reply=token(ZETA, n)) for n in range(3)))
    dying = follower(path)
    dying._keep(dying.run)
    dying._keep = lambda run: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        dying.once()
    dying._shelf.close()
    assert len(stored(tmp_path / "f.jsonl")) == 3
    with (tmp_path / "f.jsonl").open("ab") as file:
        file.write(b'{"id": "torn')
    assert once(path).total.violations == {"PW101": 3}
    assert len(stored(tmp_path / "f.jsonl")) == 3


def test_a_run_that_was_killed_is_counted_on_by_the_next(tmp_path: Path) -> None:
    path = log(tmp_path / "l", line(reply=token(ZETA)))
    killed = follower(path)
    killed.once()
    killed._shelf.close()
    assert once(path).total.violations == {"PW101": 1}
    assert not once(path).total.violations


def test_a_log_that_grows_and_is_rotated_is_followed_until_told_to_stop(tmp_path: Path) -> None:
    path = log(tmp_path / "l", line(reply="one"))
    steps: Iterator[Callable[[], object]] = iter(
        [
            lambda: log(tmp_path / "l", line(reply=token(ZETA)), line(reply="two")),
            lambda: path.rename(tmp_path / "l.1"),
            lambda: log(path, line(reply=token(ACME))),
            lambda: None,
            lambda: None,
        ]
    )
    ended: list[bool] = []

    def pause(seconds: float) -> None:
        step = next(steps, None)
        if step is None:
            ended.append(True)
        else:
            step()

    told: list[Any] = []
    one = follower(path, told=told.append)
    one.forever(lambda: bool(ended), pause)
    assert one.total.canaries["own"] == 1
    assert [found["code"] for found in told] == ["PW101"]
    assert one.restarts == 1
    one.close()


def test_two_processes_do_not_write_the_same_findings(tmp_path: Path) -> None:
    path = log(tmp_path / "l", line())
    first = follower(path)
    with pytest.raises(UsageError, match="another process"):
        follower(path)
    first.close()
    once(path)


@pytest.mark.parametrize("spoiled", ["", "[]", "{}", '{"version":9,"sources":{}}', "[" * 100_000])
def test_a_state_that_no_watch_wrote_is_refused(tmp_path: Path, spoiled: str) -> None:
    path = log(tmp_path / "l", line())
    (tmp_path / "f.jsonl.state").write_text(spoiled)
    with pytest.raises(UsageError, match="remove it"):
        once(path)


def test_a_state_with_a_spoiled_source_is_refused_and_the_lock_let_go(tmp_path: Path) -> None:
    path = log(tmp_path / "l", line())
    once(path)
    state = tmp_path / "f.jsonl.state"
    record = json.loads(state.read_text())
    record["sources"][str(path)]["mark"] = {"offset": 3}
    state.write_text(json.dumps(record))
    for _ in range(2):
        with pytest.raises(UsageError, match="remove it"):
            once(path)


def test_findings_that_are_not_ours_stay_and_half_a_line_of_theirs_is_ended(tmp_path: Path) -> None:
    (tmp_path / "f.jsonl").write_text('{"theirs": 1}\n{"half": ')
    once(log(tmp_path / "l", line(reply=token(ZETA))))
    first, half, ours = (tmp_path / "f.jsonl").read_text().splitlines()
    assert (first, half) == ('{"theirs": 1}', '{"half": ')
    assert json.loads(ours)["code"] == "PW101"


def test_a_process_killed_at_any_moment_loses_no_finding_and_doubles_none(tmp_path: Path) -> None:
    every = 10
    lines = [
        line(trace=f"t{n}", reply=token(ZETA, n) if n % every == 0 else "hello " * 40, pad="x" * 200)
        for n in range(12_000)
    ]
    path, findings = log(tmp_path / "l", *lines), tmp_path / "f.jsonl"
    command = [sys.executable, "-c", PROGRAM, "watch", "follow", str(path), "--once", "--findings", str(findings)]
    environment = os.environ | {"PARTYWALL_KEY": KEY.decode()}
    rng, kills, read_again = random.Random(7), 0, 0
    while True:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if kills < 4:
            before = findings.stat().st_size if findings.exists() else 0
            deadline = time.monotonic() + 20
            while process.poll() is None and time.monotonic() < deadline:
                if findings.exists() and findings.stat().st_size > before:
                    break
                time.sleep(0.002)
            time.sleep(rng.random() * 0.08)
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                process.communicate()
                kills += 1
                noted = _noted(tmp_path / "f.jsonl.state", path)
                last = max((one["offset"] for one in _whole(findings)), default=0)
                read_again = max(read_again, last - noted)
                continue
        _, told = process.communicate()
        break
    assert process.returncode == 1, told
    assert kills > 0
    found = stored(findings)
    assert sorted(int(one["trace"][1:]) for one in found) == list(range(0, 12_000, every))
    assert f"{len(lines)} records".encode() in told, "a run goes on counting where the killed one stopped"
    assert read_again <= (1 << 20) + 1024


def _noted(state: Path, path: Path) -> int:
    if not state.exists():
        return 0
    return int(json.loads(state.read_text())["sources"][str(path)]["mark"]["offset"])


def _whole(findings: Path) -> list[dict[str, Any]]:
    data = findings.read_bytes()
    return [json.loads(one) for one in data[: data.rfind(b"\n") + 1].splitlines()]
