"""`partywall lint-keys`: exit codes, the three formats, settings beside options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from partywall.harness.frontends.cli import _run

KEY = 'cache[f"a:{question}"] = 1\n'


class Told(NamedTuple):
    """What the command said."""

    code: int
    out: str
    err: str


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Told:
        return Told(_run(["lint-keys", *arguments]), *capfd.readouterr())

    return run


def test_nothing_found_is_exit_0(lint: Callable[..., Told]) -> None:
    Path("a.py").write_text("x = 1\n")
    assert lint("a.py") == (0, "0 found in 1 file\n", "")


def test_something_found_is_exit_1_and_one_line_each(lint: Callable[..., Told]) -> None:
    Path("a.py").write_text(KEY + KEY)
    told = lint(".")
    assert (told.code, told.err) == (1, "")
    first, second, count = told.out.splitlines()
    assert first.startswith('./a.py:1:7: hand-built-cache-key `f"a:{question}"` is put together by hand for cache[…]')
    assert second.startswith("./a.py:2:7: ")
    assert count == "2 found in 1 file"


def test_a_file_that_cannot_be_read_outweighs_what_was_found(lint: Callable[..., Told]) -> None:
    Path("a.py").write_text(KEY)
    Path("b.py").write_text("x = 1\ny = (\n")
    told = lint(".")
    assert told.code == 2
    assert "./b.py:2: syntax error: '(' was never closed" in told.out.splitlines()
    assert "hand-built-cache-key" in told.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere",), "no file or folder 'nowhere'"),
        (("notes.txt",), "no Python file in 'notes.txt'"),
        (("a.py", "--maker", "a b"), "--maker 'a b' is no name"),
        (("a.py", "--format", "xml"), "no format 'xml'; known: github, json, text"),
        ((), "Missing argument"),
    ],
)
def test_what_cannot_be_done_is_exit_2_in_one_sentence(
    lint: Callable[..., Told], arguments: tuple[str, ...], told: str
) -> None:
    Path("a.py").write_text(KEY)
    Path("notes.txt").touch()
    answer = lint(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert len(answer.err.splitlines()) == 1
    assert told in answer.err


def test_makers_and_globs_of_the_settings_and_of_the_options_add_up(lint: Callable[..., Told]) -> None:
    Path("pyproject.toml").write_text('[tool.partywall.lint-keys]\nmakers = ["one"]\nexclude = ["gen"]\n')
    Path("gen").mkdir()
    Path("gen/a.py").write_text(KEY)
    Path("b_old.py").write_text(KEY)
    Path("a.py").write_text("".join(f'def {n}(u):\n    return f"u:{{u}}"\ncache[{n}(user)]\n' for n in ("one", "two")))
    assert lint(".", "--exclude", "*_old.py").code == 1
    assert lint(".", "--exclude", "*_old.py", "--maker", "two") == (0, "0 found in 1 file\n", "")


def test_json_has_every_member_of_every_finding(lint: Callable[..., Told]) -> None:
    Path("a.py").write_text(KEY + KEY.rstrip() + "  # partywall: allow hand-built-cache-key — why\n")
    Path("b.py").write_text("(")
    told = json.loads(lint(".", "--format", "json").out)
    assert (told["version"], told["files"], told["suppressed"]) == (1, 2, 1)
    assert told["unread"] == [{"path": "./b.py", "line": 1, "why": "syntax error: '(' was never closed"}]
    (found,) = told["findings"]
    assert found.pop("message").startswith("`f")
    assert found == {
        "path": "./a.py",
        "line": 1,
        "column": 7,
        "end_line": 1,
        "end_column": 22,
        "rule": "hand-built-cache-key",
        "expression": 'f"a:{question}"',
        "sink": "cache[…]",
        "sink_line": 1,
        "names": ["request content"],
        "missing": ["tenant", "user"],
    }


def test_annotations_are_escaped_so_that_no_source_ends_one_or_begins_another(lint: Callable[..., Told]) -> None:
    Path("a,b%\n::stop.py").write_text('cache["100%25\\n::error::%s" % question]\n')
    (line,) = lint(".", "--format", "github").out.splitlines()
    place = r"::error file=./a%2Cb%25\n%3A%3Astop.py,line=1,endLine=1,col=7,endColumn=39"
    assert line.startswith(place + ",title=hand-built-cache-key::")
    assert r"100%2525\n::error::%25s" in line


def test_an_unread_file_is_annotated_too(lint: Callable[..., Told]) -> None:
    Path("a.py").write_text("(")
    told = lint(".", "--format", "github")
    assert told.out == "::error file=./a.py,line=1,title=unread::syntax error: '(' was never closed\n"


def test_a_name_that_is_no_utf8_is_shown_and_does_not_break_any_format(lint: Callable[..., Told]) -> None:
    Path("a\udcff\x1b[31m.py").write_text(KEY)
    for form in ("text", "json", "github"):
        told = lint(".", "--format", form)
        assert told.code == 1
        assert "\x1b" not in told.out
        assert "\\udcff" in told.out
