"""Escape: nothing that a target says can act on the reader's terminal, browser, CI server or parser."""

from __future__ import annotations

import time
from io import StringIO

import pytest
from partywall.harness.report.escape import (
    MAX_EVIDENCE,
    MAX_FINDINGS,
    bounded,
    for_markdown,
    for_terminal,
    for_xml,
    harmless,
    one_line,
    redacted,
    without_commands,
)
from rich.console import Console

from .judgements import CANARY, evidence, finding, judgement, results, violated


@pytest.mark.parametrize(
    ("hostile", "told"),
    [
        ("\x1b[2J\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x07", "click"),
        ("\x1b]0;title\x9cshown", "shown"),
        ("\x1bP1$qm\x1b\\shown", "shown"),
        ("\x1b_hidden\x1b\\shown", "shown"),
        ("\x1bcshown", "cshown"),
        ("a\x00b\x08c\x7fd\x9ee", "abcde"),
        ("user\u202eelbatce\u202c \u2066x\u2069\u200f", "userelbatce x"),
        ("pass\u200bword\ufeff\U000e0041", "password"),
        ("one\r\ntwo\rthree\u2028four\x85five", "one\ntwo\nthree\nfour\nfive"),
        ("\ud800 and \uffff", "� and �"),
        ("tab\tstays, é 漢 🎉 too", "tab\tstays, é 漢 🎉 too"),
    ],
)
def test_control_sequences_and_invisible_signs_are_stripped(hostile: str, told: str) -> None:
    assert harmless(hostile) == told


def test_zero_width_signs_stay_where_they_are_asked_for() -> None:
    assert harmless("\u200bx\u202e", invisible=False) == "\u200bx"


def test_what_follows_an_unterminated_sequence_stays_to_be_read() -> None:
    assert harmless("\x1b]0;the rest of the evidence") == "]0;the rest of the evidence"


@pytest.mark.parametrize("unit", ["\x1b]", "\x9d", "\x1b[", "\x9b", "\x1b", "\x90\x1b", "\x1b[1", "\x1b]x", "1 "])
def test_a_text_made_of_introducers_is_read_in_linear_time(unit: str) -> None:
    started = time.perf_counter()
    redacted("\x1b[" + unit * 200_000)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    "hidden",
    [
        CANARY,
        CANARY.upper(),
        f"\x1b[0{CANARY}",
        f"{CANARY[:3]}\x1b[31m{CANARY[3:]}",
        f"{CANARY[:9]}\u200b{CANARY[9:]}",
        f"{CANARY[:9]}\x00{CANARY[9:]}",
    ],
)
def test_canary_is_shortened_however_controls_are_laid_around_it(hidden: str) -> None:
    told = redacted(f"before {hidden} after")
    assert CANARY not in told.lower()
    assert CANARY[-15:] not in told.lower()
    assert told.startswith("before ")
    assert told.endswith(" after")


def test_redaction_of_what_is_redacted_changes_nothing() -> None:
    assert redacted(redacted(CANARY)) == redacted(CANARY)


def test_one_line_says_how_much_it_left_out() -> None:
    assert one_line("a\n\n b\tc" + "d" * 10, 5) == "a b c… (10 more characters)"


def test_markup_of_the_console_is_text_to_it() -> None:
    console = Console(file=StringIO(), force_terminal=True, width=200, color_system="truecolor")
    console.print(for_terminal("[bold red]x[/] [link=http://e]y[/link] :smile: \\"), end="", highlight=False)
    assert isinstance(console.file, StringIO)
    assert "\x1b" not in console.file.getvalue()


def test_markdown_shows_signs_and_obeys_none() -> None:
    told = for_markdown("<script>|`a`[x](http://e) **b** @all #1 $x$ www.e\n# head")
    assert not set("<>|`[]()*@$\n") & set(told)
    assert "#" not in told.replace("&#", "")
    assert "www." not in told
    assert "://" not in told


def test_xml_text_holds_only_what_xml_allows() -> None:
    allowed = {*"\t\n", *map(chr, range(0x20, 0xD800)), *map(chr, range(0xE000, 0xFFFE)), "\U0001f389"}
    assert set(for_xml("".join(map(chr, [*range(0x300), 0xD800, 0xFFFE, 0xFFFF, 0x1F389])))) <= allowed


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("::error::boom", ": :error::boom"),
        ("  ::set-output name=x::y", "  : :set-output name=x::y"),
        ("x ##[error]boom ##vso[task.complete]", "x # #[error]boom # #vso[task.complete]"),
        ("first\n::stop-commands::x", "first\n: :stop-commands::x"),
        ("http://[::1]:80 is no command", "http://[::1]:80 is no command"),
    ],
)
def test_no_line_is_a_workflow_command(line: str, told: str) -> None:
    assert without_commands(line) == told


def test_a_flood_of_findings_is_cut_and_says_so() -> None:
    flood = [finding(fingerprint="flood") for _ in range(MAX_FINDINGS + 20)]
    (verdict,) = bounded(results(judgement(violated(*flood)))).verdicts
    assert len(verdict.findings) == MAX_FINDINGS
    assert verdict.reason == "20 more findings are not listed"


def test_a_flood_of_one_kind_hides_no_other_kind() -> None:
    flood = [finding(fingerprint="flood") for _ in range(MAX_FINDINGS)]
    rare = violated(finding(fingerprint="rare"), check="takeover")
    told = bounded(results(judgement(violated(*flood), rare)))
    assert [verdict.findings[-1].fingerprint for verdict in told.verdicts] == ["flood", "rare"]


def test_evidence_of_a_finding_is_cut_to_its_limit_and_never_to_nothing() -> None:
    big = evidence("é" * 100_000, place="/x" * 100_000, decoded=("d" * 100_000,) * 3)
    told = bounded(results(judgement(violated(finding(evidence=(big,) * 5)))))
    kept = told.verdicts[0].findings[0].evidence
    assert 1 <= len(kept) < 5
    assert sum(len(piece.model_dump_json().encode()) for piece in kept) <= MAX_EVIDENCE + 1024


def test_small_evidence_is_kept_whole() -> None:
    told = bounded(results(judgement(violated(finding(evidence=tuple(evidence(str(n)) for n in range(20)))))))
    assert [piece.excerpt for piece in told.verdicts[0].findings[0].evidence] == [str(n) for n in range(20)]


def test_what_is_bounded_once_stays_as_it_is() -> None:
    big = finding(evidence=(evidence("mzqx7a " * 20_000, probe="\ud800" * 70_000), evidence()))
    once = bounded(results(judgement(violated(big, *[finding()] * 600))))
    assert bounded(once) == once


def test_canaries_of_a_prefix_of_the_run_are_shortened_too() -> None:
    token = "acme9" + CANARY[5:]
    told = bounded(results(judgement(violated(finding(f"saw {token}")))), ["acme9"])
    assert token not in told.model_dump_json()
