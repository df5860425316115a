"""`partywall demo`: on the bundled agent, in order, with an exit code that says whether all of it was shown."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from partywall.canaries import UsageError, redact_tokens
from partywall.harness.demos import Stage, demo_named, demos, perform
from partywall.harness.drive.resolve import kind_of
from partywall.harness.drive.target import TargetSettings
from partywall.harness.exits import Exit
from partywall.harness.frontends.cli import _run

REPOSITORY = Path(__file__).parents[3]
TITLES = [
    "1. key collision and its cure",
    "2. same session, two tasks",
    "3. concurrent appends",
    "4. stale commit",
    "5. retried request",
    "6. the four states",
    "7. a changed fact",
    "8. tenant purge",
    "9. canaries",
]
FIGURES = (
    "8 turns, version 8, numbers 1..8, 0 errors",
    "turn 1 twice, 1 turn",
    "the second commit is refused: expected 1, actual 2",
    "5 keys, 5 prefixes, 1 fingerprint",
    "5 systems confirm",
    "the neighbour ivy-1 is kept whole",
    "a foreign one is caught in reference:mutant=M12",
    "archived: 0 turns left",
)
MUTANTS = [
    ("key_collision", "M03"),
    ("key_collision", "M04"),
    ("key_collision", "M61"),
    ("two_tasks", "M05"),
    ("tenant_purge", "M01"),
    ("canaries", "M12"),
]


def test_what_needs_one_agent_only_is_shown_on_it() -> None:
    lines: list[str] = []

    async def show() -> list[Exit]:
        async with Stage() as stage:
            return [
                (await perform(demo_named(name), stage, lines.append)).exit for name in ("2", "3", "4", "5", "7", "8")
            ]

    exits = asyncio.run(show())
    assert exits == [Exit.HELD] * 6, lines
    assert "   ✔ 8 turns, version 8, numbers 1..8, 0 errors" in lines
    assert "   ✔ turn 1 twice, 1 turn" in lines


@pytest.mark.slow
def test_the_nine_are_told_in_order_on_the_bundled_agent(capfd: pytest.CaptureFixture[str]) -> None:
    code = _run(["demo"])
    out, err = capfd.readouterr()
    assert [line for line in out.splitlines() if re.match(r"\d", line)][:9] == TITLES
    assert all(figure in out for figure in FIGURES)
    assert "✘" not in out
    assert code == (4 if "not shown:" in out else 0), out
    assert out == redact_tokens(out)
    assert "Traceback" not in err


def test_one_is_told_by_its_number_or_its_name() -> None:
    assert [f"{demo.number}. {demo.title}" for demo in demos()] == TITLES


@pytest.mark.parametrize("name", ["0", "10", "-1", "", " ", "key_colision", "\x1b[2J", "x" * 5000])
def test_an_unknown_one_is_told_in_one_sentence(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["demo", "--", name]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    (sentence,) = err.splitlines()
    assert sentence.startswith("error: no demo ")
    assert "key_collision" in sentence
    assert "\x1b" not in sentence


def test_an_unknown_mutant_is_told_before_anything_is_started(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["demo", "4", "--mutant", "M999"]) == 2
    assert "no mutant 'M999'; known: M01" in capfd.readouterr().err


def test_an_option_that_the_bundled_agent_lacks_is_told_before_it_is_started() -> None:
    settings = TargetSettings(options={"lifetimes": 3})

    async def start() -> None:
        await kind_of("reference").open("reference", settings)

    with pytest.raises(UsageError, match="no option 'lifetimes'; known: idle_after, lifetime, archive_after"):
        asyncio.run(start())


def test_the_page_shows_what_is_printed() -> None:
    page = (REPOSITORY / "docs" / "demos.md").read_text("utf-8")
    assert all(title in page for title in TITLES)
    assert all(figure in page for figure in FIGURES)
    assert page == redact_tokens(page)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_a_fault_seeded_in_the_agent_is_seen(name: str, mutant: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["demo", name, "--mutant", mutant]) == 1
    out = capfd.readouterr().out
    assert "   ✘ " in out
    assert out == redact_tokens(out)
