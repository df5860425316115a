"""Whatever the text: the check answers, and what it tells stands inside the text."""

from __future__ import annotations

import random
from pathlib import Path

import partywall.harness.lint_keys as lint_keys
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from partywall.harness.lint_keys import Checked, check_source

HERE = Path(__file__).parent
FILES = [*sorted(Path(lint_keys.__file__).parent.glob("*.py")), Path(__file__)]
SNIPPETS = (HERE / "found.txt").read_text("utf-8") + (HERE / "clean.txt").read_text("utf-8")
PIECES = [
    "cache", "redis", "locks", "limiter", "question", "user_id", "self", ".get", ".x", "(", ")", "[", "]", "{",
    "}", "f'{", "}'", "'", '"', "%", "+", "/", ":=", "=", ",", ":", "\n", "\n    ", "def f", "class C",
    "lambda ", "return ", "for ", " in ", "if ", "else", "*", "**", "await ", "async ", "with ", " as ",
    "match ", "case ", "join", "Path", "open", "import ", "from ", "# partywall: allow hand-built-path",
    "— why", "\\", "\x00", "\ud800", "é", "\x0c", "1", "del ", "@",
]  # fmt: skip


def sound(source: str | bytes) -> Checked:
    checked = check_source(source)
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    lines = text.count("\n") + text.count("\r")
    for each in checked.findings:
        assert 1 <= each.line <= each.end_line <= lines + 1
        assert each.column >= 1
        assert (each.line, each.column) <= (each.end_line, each.end_column)
        assert each.message.isprintable()
    assert checked.unread is None or not checked.findings
    return checked


@given(st.text())
def test_on_any_text(source: str) -> None:
    sound(source)


@given(st.binary())
def test_on_any_bytes(source: bytes) -> None:
    sound(source)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_on_pieces_of_code_in_any_order(source: str) -> None:
    sound(source)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(FILES), st.integers(), st.integers(1, 12))
def test_on_files_whose_lines_were_mixed_up(file: Path, seed: int, changes: int) -> None:
    rng = random.Random(seed)
    lines = file.read_text("utf-8").split("\n")
    for _ in range(changes):
        at = rng.randrange(len(lines))
        match rng.randrange(4):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, rng.choice(lines))
            case 2:
                lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)] + rng.choice(PIECES)
            case _:
                lines[at] = lines[at].replace(rng.choice(PIECES), rng.choice(PIECES))
        if not lines:
            break
    sound("\n".join(lines))


@settings(deadline=None, max_examples=200)
@given(st.integers())
def test_on_snippets_put_into_each_other(seed: int) -> None:
    rng = random.Random(seed)
    snippets = [each.partition("\n")[2] for each in SNIPPETS.split("\n=== ")[1:]]
    inner = rng.choice(snippets).strip()
    outer = rng.choice(snippets)
    for name in ("question", "user_id", "user", "cache"):
        if "\n" not in inner and not inner.startswith(("del", "raise", "import")):
            outer = outer.replace(name, f"({inner})", rng.randrange(3))
    sound(outer)


@pytest.mark.parametrize("depth", [10, 100, 1000])
def test_on_functions_inside_functions(depth: int) -> None:
    levels = min(depth, 90)
    sound("".join("    " * n + f"def f{n}(q):\n" for n in range(levels)) + "    " * levels + "cache[f'{q}']\n")
    sound("x = " + "f(" * depth + "question" + ")" * depth + "\ncache[x]\n")
