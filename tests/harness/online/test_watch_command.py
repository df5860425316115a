"""`partywall watch` and `partywall power`: exit codes, sentences, figures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from partywall.harness.frontends.cli import _run

from .marked import ACME, KEY, ZETA, line, log, stored, token
from .test_follow import PROGRAM

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PARTYWALL_KEY", KEY.decode())
    monkeypatch.chdir(tmp_path)


def watch(path: Path | str, *more: str) -> int:
    return _run(["watch", "follow", str(path), "--once", "--findings", "f.jsonl", *more])


def test_one_own_and_one_foreign_canary_are_exactly_one_finding(tmp_path: Path, capsys: Captured) -> None:
    path = log(tmp_path / "log.jsonl", line(reply=token(ACME)), line(reply=token(ZETA)))
    assert watch(path) == 1
    assert [one["code"] for one in stored(tmp_path / "f.jsonl")] == ["PW101"]
    told = capsys.readouterr()
    assert "crossed TENANT" in told.out
    assert token(ZETA) not in told.out + told.err


def test_canaries_that_all_belong_are_held(tmp_path: Path, capsys: Captured) -> None:
    assert watch(log(tmp_path / "l", line(reply=token(ACME)))) == 0
    assert "HELD" in capsys.readouterr().err


def test_without_a_canary_nothing_is_proved(tmp_path: Path, capsys: Captured) -> None:
    assert watch(log(tmp_path / "l", line(reply="hello"))) == 4
    assert "UNKNOWN: control failed: a canary has flowed: none has" in capsys.readouterr().err


def test_an_empty_log_and_a_second_run_say_that_nothing_is_new(tmp_path: Path, capsys: Captured) -> None:
    assert watch(log(tmp_path / "l")) == 4
    assert watch(tmp_path / "l") == 4
    assert "nothing new stands" in capsys.readouterr().err


def test_a_canary_that_is_nobodys_leaves_it_inconclusive(tmp_path: Path, capsys: Captured) -> None:
    assert watch(log(tmp_path / "l", line(reply=token(ACME)), b"plain " + token(ZETA).encode())) == 4
    assert "every canary was in somebody's record" in capsys.readouterr().err


def test_lines_that_are_no_json_are_counted_and_skipped(tmp_path: Path, capsys: Captured) -> None:
    assert watch(log(tmp_path / "l", b"Traceback:", b"\xff\0", line(reply=token(ACME)))) == 0
    assert "skipped: 2 not_json" in capsys.readouterr().err


def test_a_line_of_ten_megabytes_is_scanned_and_not_held(tmp_path: Path, capsys: Captured) -> None:
    big = line(reply="x" * 10_000_000 + token(ZETA))
    assert watch(log(tmp_path / "l", big, line(reply=token(ACME)))) == 4
    told = capsys.readouterr().err
    assert "1 too_long" in told
    assert "2 records" in told


def test_a_text_log_is_its_observers(tmp_path: Path) -> None:
    path = log(tmp_path / "l", b"booked " + token(ACME).encode(), b"booked " + token(ZETA).encode())
    assert watch(path, "--text", "--observer", "tenant=acme") == 1
    assert len(stored(tmp_path / "f.jsonl")) == 1


def test_the_key_may_stand_in_a_file_and_epochs_in_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARTYWALL_KEY")
    (tmp_path / "key").write_bytes(KEY + b"\n")
    path = log(tmp_path / "l", line(reply=token(ZETA)))
    assert watch(path, "--key-file", "key", "--epoch", "7,0") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.jsonl"], "no file 'none.jsonl'"),
        (["x" * 5000], "no file"),
        (["."], "cannot read '.'"),
        (["l", "--findings", "no/such/f.jsonl"], "no/such/f.jsonl"),
        (["l", "--findings", "folder"], "cannot write findings 'folder'"),
        (["l", "--fields", "tenat=x"], "did you mean 'tenant'?"),
        (["l", "--own-input", "a["], "own input 'a['"),
        (["l", "--rate", "2"], "sample rate"),
        (["l", "--rate", "nan"], "sample rate"),
        (["l", "--epoch", ","], "no epoch"),
        (["l", "--observer", "user=a"], "every level above"),
        (["l", "--text"], "--observer"),
        (["l", "--max-line", "3"], "--max-line"),
        (["l", "--metrics-port", "99999"], "port 99999"),
        (["l", "--key-file", "none"], "cannot read key file"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, capsys: Captured, arguments: list[str], told: str) -> None:
    log(tmp_path / "l", line())
    (tmp_path / "folder").mkdir()
    assert watch(arguments[0], *arguments[1:]) == 2
    sentence = capsys.readouterr().err
    assert sentence.count("\n") == 1
    assert told in sentence


@pytest.mark.parametrize("key", ["", "short"])
def test_a_key_that_is_missing_or_short_is_one_sentence(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("PARTYWALL_KEY", key)
    assert watch(log(tmp_path / "l", line())) == 2
    assert "32" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_log_that_may_not_be_read_is_one_sentence(tmp_path: Path, capsys: Captured) -> None:
    log(tmp_path / "l", line()).chmod(0)
    assert watch(tmp_path / "l") == 2
    assert "Permission denied" in capsys.readouterr().err


def test_a_follower_that_is_told_to_stop_says_what_it_found(tmp_path: Path) -> None:
    path = log(tmp_path / "l", line(reply=token(ACME)))
    command = [sys.executable, "-c", PROGRAM, "watch", "follow", str(path), "--findings", "f.jsonl"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not (tmp_path / "f.jsonl.state").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    with path.open("ab") as file:
        file.write(line(reply=token(ZETA)) + b"\n")
    while not stored(tmp_path / "f.jsonl") and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 1, err
    assert "crossed TENANT" in out
    assert "1 findings" in err


@pytest.mark.parametrize(
    ("more", "leaks", "caught", "responses"),
    [([], "2,995", "0.950038", "299,573,226"), (["--sensitivity", "0.7"], "4,279", "0.950031", "427,961,752")],
)
def test_power_prints_how_long_a_leak_goes_unseen(
    capsys: Captured, more: list[str], leaks: str, caught: str, responses: str
) -> None:
    assert _run(["power", "--rate", "0.001", "--leak", "1e-5", "--exposure", "1", "--rps", "100", *more]) == 0
    told = capsys.readouterr().out
    assert f"of {leaks} leaks at least one is caught with {caught}" in told
    assert f"({responses} responses)" in told
    assert "days" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["--leak", "0", "--rps", "1"],
        ["--leak", "2", "--rps", "1"],
        ["--leak", "nan", "--rps", "1"],
        ["--leak", "1e-300", "--rps", "1"],
        ["--leak", "0.1", "--rps", "0"],
        ["--leak", "0.1", "--rps", "inf"],
        ["--leak", "0.1", "--rps", "1", "--rate", "0"],
        ["--leak", "0.1", "--rps", "1", "--confidence", "1"],
        ["--rps", "1"],
    ],
)
def test_power_refuses_what_is_no_rate(capsys: Captured, arguments: list[str]) -> None:
    assert _run(["power", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_power_takes_a_certain_catch_and_a_hopeless_one(capsys: Captured) -> None:
    assert _run(["power", "--leak", "1", "--rps", "1", "--rate", "1"]) == 0
    assert _run(["power", "--leak", "1e-12", "--rps", "1", "--rate", "1e-9"]) == 0
    assert "more than 10,000 years" in capsys.readouterr().out
