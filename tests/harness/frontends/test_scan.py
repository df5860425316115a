"""`mint` prints a token and nothing else; `scan` finds it again wherever it was put, and says whose it is."""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Told

Command = Callable[..., Told]
KEY = "kestrel-0123456789-0123456789-0123456789"


@pytest.fixture(autouse=True)
def key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTYWALL_KEY", KEY)


@pytest.fixture
def token(command: Command) -> str:
    told = command("mint", "--tenant", "acme", "--user", "ann", "--session", "s1", "--task", "k1", "--seq", "7")
    assert (told.code, told.err) == (0, "")
    return told.out.removesuffix("\n")


def lines(told: Told) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told.out.splitlines()]


def test_mint_prints_the_token_alone(token: str) -> None:
    assert len(token) == 29
    assert token.isalnum()


def test_the_same_owner_gets_the_same_token_and_another_epoch_another(command: Command, token: str) -> None:
    again = ("mint", "--tenant", "acme", "--user", "ann", "--session", "s1", "--task", "k1", "--seq", "7")
    assert command(*again).out.strip() == token
    assert command(*again, "--epoch", "1").out.strip() != token
    assert command(*again, "--kind", "memory").out == command(*again, "--kind", "5").out != command(*again).out


@pytest.mark.parametrize("option", [("--kind", "thing"), ("--kind", "99"), ("--kind", "²"), ("--seq", "70000"),
                                    ("--seq", "-1"), ("--tenant", ""), ("--epoch", "")])  # fmt: skip
def test_what_cannot_be_minted_is_refused(option: tuple[str, str], command: Command) -> None:
    told = command("mint", "--tenant", "acme", "--user", "ann", *option)
    assert (told.code, told.out) == (2, "")
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("observer", "code", "boundary"),
    [
        ("tenant=acme", 0, None), ("tenant=acme,user=ann", 0, None), ("tenant=zeta", 1, "tenant"),
        ("tenant=acme,user=bob", 1, "user"), ("tenant=acme,user=ann,session=s2", 1, "session"),
        ("tenant=acme,user=ann,session=s1,task=k1", 0, None),
        ("tenant=acme,user=ann,session=s1,task=k2", 1, "task"),
        ("task=k1,session=s1,user=ann,tenant=acme", 0, None), (" tenant=acme, user=ann", 0, None),
        ("tenant=", 1, "tenant"),
    ],
)  # fmt: skip
def test_a_canary_is_foreign_as_deep_as_the_observer_is_named(
    observer: str, code: int, boundary: str | None, command: Command, token: str, folder: Path
) -> None:
    (folder / "log.txt").write_text(f"voucher {token}\n")
    told = command("scan", "log.txt", "--observer", observer)
    (line,) = lines(told)
    assert told.code == code
    assert (line["foreign"], line["boundary"]) == (code == 1, boundary)
    assert (line["path"], line["start"], line["seq"], line["kind"]) == ("log.txt", 8, 7, "message")
    assert token not in told.out + told.err


@pytest.mark.parametrize(
    "observer",
    ["user=ann", "tenant=acme,task=k1", "team=acme", "tenant", "=", ",", "tenant=a,tenant=b"],
)
def test_an_observer_that_makes_no_sense_is_refused(observer: str, command: Command, folder: Path) -> None:
    (folder / "log.txt").write_text("nothing")
    told = command("scan", "log.txt", "--observer", observer)
    assert (told.code, told.out) == (2, "")
    assert len(told.err.splitlines()) == 1


def test_without_an_observer_nothing_is_foreign(command: Command, token: str, folder: Path) -> None:
    (folder / "log.txt").write_text(token)
    told = command("scan", "log.txt")
    assert told.code == 0
    assert "foreign" not in lines(told)[0]


def test_a_folder_is_read_whole(command: Command, token: str, folder: Path) -> None:
    for name in ("a/b/c.txt", "a/d.json", "a/\x1b[2J\nevil.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(token)
    (folder / "a" / "blob.bin").write_bytes(os.urandom(100) + token.encode() + b"\xff\x00")
    os.mkfifo(folder / "a" / "pipe")
    (folder / "a" / "nowhere").symlink_to("missing")
    told = command("scan", "a", "--observer", "tenant=zeta")
    assert told.code == 1
    assert len(lines(told)) == 4
    assert "\x1b" not in told.out + told.err


def test_several_paths_are_read_one_after_the_other(command: Command, token: str, folder: Path) -> None:
    for name in ("one", "two"):
        (folder / name).write_text(token)
    assert [line["path"] for line in lines(command("scan", "two", "one"))] == ["two", "one"]


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input_is_read(
    arguments: tuple[str, ...], command: Command, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 3_000_000 + token.encode())))
    (line,) = lines(command("scan", *arguments))
    assert (line["path"], line["start"]) == ("-", 3_000_000)


def test_depth_decides_what_is_seen(command: Command, token: str, folder: Path) -> None:
    (folder / "log.txt").write_bytes(base64.b64encode(f"some text with {token} in it".encode()))
    assert not lines(command("scan", "log.txt", "--level", "S0"))
    (line,) = lines(command("scan", "log.txt", "--level", "s3"))
    assert line["decoded"] == ["base64"]
    assert command("scan", "log.txt", "--level", "S9").code == 2


def test_two_epochs_are_opened_with_two_keys(command: Command, token: str, folder: Path) -> None:
    later = command("mint", "--tenant", "acme", "--user", "ann", "--epoch", "1").out.strip()
    (folder / "log.txt").write_text(f"{token} {later}")
    assert [line["epoch"] for line in lines(command("scan", "log.txt"))] == ["0"]
    assert [line["epoch"] for line in lines(command("scan", "log.txt", "--epoch", "1, 0"))] == ["0", "1"]


@pytest.mark.parametrize("epoch", ["", ",", " , "])
def test_a_scan_without_an_epoch_is_refused_since_it_would_see_nothing(epoch: str, command: Command) -> None:
    assert command("scan", ".", "--epoch", epoch).code == 2


def test_another_key_sees_nothing(command: Command, token: str, folder: Path) -> None:
    (folder / "log.txt").write_text(token)
    (folder / "other").write_text("another-" + KEY)
    told = command("scan", "log.txt", "--key-file", "other", "--observer", "tenant=zeta")
    assert (told.code, told.out) == (0, "")
    assert "no canary was seen: that proves nothing" in told.err


def test_a_key_file_goes_before_the_variable_and_loses_its_line_end(
    command: Command, token: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "log.txt").write_text(token)
    (folder / "key").write_text(KEY + "\r\n")
    monkeypatch.setenv("PARTYWALL_KEY", "too short to be used")
    assert len(lines(command("scan", "log.txt", "--key-file", "key"))) == 1
    told = command("scan", "log.txt")
    assert told.code == 2
    assert "PARTYWALL_KEY holds 20 bytes; expected at least 32" in told.err


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"x" * 31])
def test_a_short_key_file_is_refused(content: bytes, command: Command, folder: Path) -> None:
    (folder / "key").write_bytes(content)
    told = command("scan", ".", "--key-file", "key")
    assert told.code == 2
    assert "expected at least 32" in told.err


def test_a_key_that_is_no_text_is_a_key(command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTYWALL_KEY", os.fsdecode(bytes(range(128, 192))))
    assert command("mint", "--tenant", "acme", "--user", "ann").code == 0


@pytest.mark.parametrize("path", ["missing", "x" * 5000, "\x00" * 0 + "missing/below"])
def test_a_path_that_is_not_there_is_refused(path: str, command: Command) -> None:
    told = command("scan", path)
    assert (told.code, told.out) == (2, "")
    assert "no file or folder" in told.err


def test_what_cannot_be_read_is_named_and_never_passes(
    command: Command, token: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a" / "closed").mkdir(parents=True)
    (folder / "a" / "log.txt").write_text(token)
    listed = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    told = command("scan", "a", "--observer", "tenant=acme")
    assert told.code == 2
    assert len(lines(told)) == 1
    assert "cannot read 'a/closed': Permission denied" in told.err


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_read(
    command: Command, token: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/1.txt", "a/2.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(token)
    opened = Path.open

    def refuse(self: Path, *arguments: Any, **named: Any) -> Any:
        if self.name == "1.txt":
            raise PermissionError(13, "Permission denied")
        return opened(self, *arguments, **named)

    monkeypatch.setattr(Path, "open", refuse)
    told = command("scan", "a")
    assert told.code == 2
    assert [line["path"] for line in lines(told)] == ["a/2.txt"]
    assert "cannot read 'a/1.txt'" in told.err


def test_a_damaged_canary_is_counted(command: Command, token: str, folder: Path) -> None:
    (folder / "log.txt").write_text(token[:-3] + " cut")
    told = command("scan", "log.txt")
    assert told.out == ""
    assert "1 damaged" in told.err
