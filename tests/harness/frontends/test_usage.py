"""What the caller gets wrong is told in one sentence, with exit code 2, before anything is sent or written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from partywall.harness.catalogue import CODES
from partywall.harness.frontends.commands.list_ import _kinds

from .adapters import RIGHT
from .conftest import Told

Command = Callable[..., Told]
Adapter = Callable[[str], str]

MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "scenario": (("verify", "--scenarios", "cross_tennant"), "did you mean 'cross_tenant'?"),
    "one of two scenarios": (("verify", "--scenarios", "cross_user,nothing"), "no scenario 'nothing'; known:"),
    "target": (("verify", "--target", "langgraf"), "no target 'langgraf'; known:"),
    "target of blanks": (("verify", "--target", " "), "no target ' '; known:"),
    "target without module": (("verify", "--target", "no_such_module_here:Thing"), "cannot import"),
    "variant": (("verify", "--target", "openai-agents:naked"), "no variant 'naked'; known:"),
    "pack": (("verify", "--pack", "quik"), "no pack 'quik'; known: full, quick, standard (did you mean 'quick'?)"),
    "report": (("verify", "--report", "json,jnit"), "no report 'jnit'; known:"),
    "guarantee": (("verify", "--require", "isolaton"), "did you mean 'isolation'?"),
    "option": (("verify", "--sede", "1"), "--sede"),
    "command": (("verfy",), "verfy"),
    "seed": (("verify", "--seed", "seven"), "--seed"),
    "size": (("verify", "--size", "0"), "--size"),
    "a size that would fill the memory": (("verify", "--size", "1000000000"), "--size"),
    "timeout": (("verify", "--timeout", "0"), "--timeout"),
    "time": (("verify", "--max-time", "-1"), "--max-time"),
    "key file": (("verify", "--key-file", "missing"), "cannot read key file 'missing'"),
    "key file that is a folder": (("verify", "--key-file", "."), "cannot read key file"),
    "judge nothing": (("judge",), "argument"),
    "judge missing": (("judge", "missing.jsonl"), "cannot read history 'missing.jsonl'"),
    "judge a folder": (("judge", "."), "cannot read history"),
    "replay nonsense": (("replay", "nonsense"), "'nonsense' is no trial; expected 'scenario="),
    "replay unknown": (("replay", "scenario=x target=y fault=steady seed=1 size=1"), "no "),
    "replay a huge seed": (("replay", f"scenario=x target=y fault=steady seed={'9' * 5000} size=1"), "is no trial"),
    "replay a huge size": (("replay", "scenario=a target=b fault=c seed=1 size=99999"), "size 99999 cannot be run"),
    "explain": (("explain", "PW999"), "no finding code 'PW999'; known: PW101"),
    "list": (("list", "scenarois"), "did you mean 'scenarios'?"),
    "doctor": (("doctor", "--target", "nobody"), "no target 'nobody'"),
    "mint without key": (("mint", "--tenant", "acme", "--user", "ann"), "no key: set PARTYWALL_KEY or give --key-file"),
    "scan without key": (("scan", "."), "no key: set PARTYWALL_KEY or give --key-file"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_told_in_one_sentence(
    arguments: tuple[str, ...], expected: str, command: Command, folder: Path
) -> None:
    told = command(*arguments)
    assert told.code == 2
    assert told.out == ""
    (sentence,) = told.err.splitlines()
    assert sentence.startswith("error: ")
    assert expected in sentence
    assert len(sentence) < 6000
    assert not (folder / "out" / "results.json").exists()


@pytest.mark.parametrize("name", ["\x1b[2Jred", "a\nb", "x" * 9999, "\u202eevil", "::error::x"])
def test_a_hostile_name_is_told_harmlessly(name: str, command: Command) -> None:
    for arguments in (("verify", "--scenarios", name), ("explain", name), ("list", name), ("judge", name)):
        told = command(*arguments)
        assert told.code == 2
        assert len(told.err.splitlines()) == 1
        assert not {"\x1b", "\u202e"} & set(told.err)
        assert not told.err.startswith("::")


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_sent(
    command: Command, adapter: Adapter, folder: Path
) -> None:
    (folder / "taken").write_text("a file")
    source = RIGHT + "\nopen('opened', 'w')\n"
    for out in ("taken", "taken/below"):
        told = command("verify", "--target", f"{adapter(source)}:Right", "--out", out)
        assert told.code == 2
        assert f"cannot write to '{out}'" in told.err
    assert not (folder / "opened").exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "\x00\x01", "{oops", '{"entry":"header","version":2}'])
def test_a_malformed_history_is_refused(text: str, command: Command, folder: Path) -> None:
    (folder / "h.jsonl").write_text(text)
    told = command("judge", "h.jsonl")
    assert told.code == 2
    assert len(told.err.splitlines()) == 1
    assert "h.jsonl" in told.err


def test_judging_to_an_unknown_report_is_refused_before_anything_is_written(
    command: Command, adapter: Adapter, folder: Path
) -> None:
    command("verify", "--target", f"{adapter(RIGHT)}:Right", "--scenarios", "cross_tenant")
    for arguments in (("--report", "jnit"), ("--require", "isolaton")):
        assert command("judge", "out/history.jsonl", "--out", "again", *arguments).code == 2
    assert not (folder / "again").exists()


@pytest.mark.parametrize("kind", list(_kinds()))
def test_every_list_has_a_line_an_item(kind: str, command: Command) -> None:
    told = command("list", kind)
    assert told.code == 0
    assert told.out.strip()
    assert all(len(line.split()) > 1 for line in told.out.splitlines())


@pytest.mark.parametrize("code", list(CODES))
def test_every_code_is_explained_in_any_case(code: str, command: Command) -> None:
    told = command("explain", code)
    assert told.code == 0
    assert told.out.startswith(code)
    assert "What to do:" in told.out
    assert command("explain", code.lower()) == told


def test_the_version_is_one_line(command: Command) -> None:
    told = command("--version")
    assert told.code == 0
    assert told.out.startswith("partywall ")


def test_help_is_no_error(command: Command) -> None:
    assert command("--help").code == 0
    assert command("verify", "--help").code == 0
