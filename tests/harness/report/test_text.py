"""Reporter `text`: what a person reads at the end of a run."""

from __future__ import annotations

import sys
from dataclasses import replace
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from partywall.harness.judge.verdict import Status
from partywall.harness.report.reporters.text import SHOWN_FINDINGS, WIDTH, print_text, render
from rich.console import Console

from .judgements import (
    TRIAL,
    cell,
    evidence,
    finding,
    held,
    history,
    inconclusive,
    judgement,
    not_covered,
    results,
    violated,
)


def test_finding_is_told_with_code_testimony_evidence_replay_and_explain() -> None:
    seen = evidence("the order is mzqx7…abc123", decoded=("base64", "gzip"), planted_by="p1")
    told = render(results(judgement(violated(finding(evidence=(seen,))))))
    for words in (
        "✘ PW101 crossed tenant",
        "acme/ann was shown zeta/zoe's canary 7f3a01: crossed TENANT",
        "probe p7, search_memory at /0/text",
        "“the order is mzqx7…abc123”",
        "base64 → gzip",
        f"partywall replay '{TRIAL}'\n",
        "partywall explain PW101\n",
    ):
        assert words in told


@pytest.mark.parametrize(
    ("verdict", "last"),
    [
        (held(), "✔ HELD   exit 0: every guarantee that was covered held"),
        (violated(), "✘ VIOLATED   exit 1: a guarantee was violated"),
        (inconclusive(), "? INCONCLUSIVE   exit 4: nothing was seen to leak, and not enough was seen"),
        (not_covered(), "– NOT COVERED   exit 5: nothing was covered"),
    ],
    ids=["held", "violated", "inconclusive", "not covered"],
)
def test_last_line_says_the_verdict_in_a_word_and_what_the_exit_code_means(verdict: object, last: str) -> None:
    assert render(results(judgement(verdict))).splitlines()[-1].startswith(last)  # type: ignore[arg-type]


def test_inconclusive_that_was_allowed_is_not_told_as_held() -> None:
    last = render(results(judgement(inconclusive()), exit_code=0)).splitlines()[-1]
    assert last == "? INCONCLUSIVE   exit 0: inconclusive, which was allowed"


def test_summary_has_violations_observations_bound_seed_and_time() -> None:
    told = render(results(judgement(held("leak", *(cell(channel=f"c{n}") for n in range(409))))))
    summary = "0 violations · 40 of 41 observations checked · upper bound 0.73 % at 95 % · seed 1 · 9.8 s"
    assert told.splitlines()[-2] == summary


def test_bound_told_is_that_of_the_boundary_of_which_least_is_known() -> None:
    many = [cell(channel=f"c{n}") for n in range(409)]
    assert "upper bound 95 % at 95 %" in render(results(judgement(held("leak", *many, cell(boundary="user")))))


def test_no_bound_is_told_where_nothing_was_tried() -> None:
    assert "no upper bound" in render(results(judgement(not_covered())))


def test_boundaries_share_a_line_only_where_the_same_channels_were_tried() -> None:
    cells = [cell(), cell(boundary="user"), cell(boundary="task"), cell(boundary="task", channel="list")]
    told = render(results(judgement(held("leak", *cells))))
    assert "isolation   tenant ✔  user ✔   over search\n" in told
    assert "            task ✔   over search, list\n" in told


def test_mark_stands_on_the_line_of_the_check_that_it_marks() -> None:
    told = render(results(judgement(*(held(f"check{'x' * n}") for n in range(20)))))
    listed = told[told.index("checks") : told.index("violations")]
    assert listed.count("✔") == 20
    assert not [line for line in listed.splitlines() if line.strip().startswith("✔")]


def test_channel_that_was_not_tried_is_not_listed() -> None:
    told = render(results(judgement(held("leak", cell(), cell(Status.NOT_COVERED, channel="prompt")))))
    assert "over search\n" in told
    assert "prompt" not in told


def test_channel_that_leaked_or_was_blind_is_marked_beside_its_name() -> None:
    cells = [cell(Status.VIOLATED, carrier="base64"), cell(channel="list"), cell(Status.INCONCLUSIVE, channel="reply")]
    told = render(results(judgement(violated(cells=cells))))
    assert "tenant ✘   over search ✘ (base64), list, reply ?" in told


def test_failed_controls_are_counted_and_named() -> None:
    told = render(results(judgement(held("mixing"), inconclusive())))
    assert "? controls    1 of 2 passed\n" in told
    assert "acme/ann sees its own by list: no canary was ever seen there" in told


def test_run_without_controls_does_not_claim_that_they_passed() -> None:
    assert "? controls    none was possible" in render(results(judgement(not_covered())))


def test_not_covered_and_undecided_are_listed_with_their_reasons() -> None:
    told = render(
        results(
            judgement(held(), inconclusive("no overlap", "order"), not_covered("the target lacks x", "takeover")),
            skipped=[("purge", "the target is not disposable")],
        )
    )
    assert "order: no overlap" in told
    assert "takeover: the target lacks x" in told
    assert "scenario purge: the target is not disposable" in told


def test_who_took_part_is_counted_from_the_histories() -> None:
    told = render(results(judgement(held())), [history(), history()])
    assert "✔ target      reference   2 tenants × 1 user × 1 session × 1 task, 1 canary sown\n" in told


def test_target_that_was_lost_is_told_first() -> None:
    told = render(results(judgement(held()), exit_code=3, failures=["the target is gone"])).splitlines()
    assert told[0].startswith("✘ target")
    assert told[1].endswith("the target is gone")


def test_findings_of_one_fingerprint_are_told_once_with_their_number_and_trials() -> None:
    other = judgement(violated(finding("later")), trial=replace(TRIAL, seed=2))
    told = render(results(judgement(violated(finding("first"), finding("second"))), other))
    assert told.count("✘ PW101") == 1
    assert "3 findings of this kind in 2 trials" in told
    assert "later" not in told
    assert told.splitlines()[-2].startswith("3 violations")


def test_terminal_shows_some_kinds_of_findings_and_says_how_many_more() -> None:
    many = [finding(fingerprint=f"f{n}") for n in range(SHOWN_FINDINGS + 7)]
    told = render(results(judgement(violated(*many))))
    assert told.count("✘ PW101") == SHOWN_FINDINGS
    assert "7 more kinds of finding stand in results.json" in told


def test_trial_that_is_hostile_to_a_shell_is_quoted() -> None:
    given = results(judgement(violated())).model_dump()
    given["verdicts"][0]["findings"][0]["trial"] = "x'; rm -rf ~; '"
    told = render(type(results()).model_validate(given))
    assert "partywall replay 'x'\"'\"'; rm -rf ~; '\"'\"''\n" in told


def test_lines_keep_to_the_width_but_for_commands_to_copy() -> None:
    long = finding("word " * 200, evidence=(evidence("y" * 5_000),))
    told = render(results(judgement(violated(long), inconclusive("z" * 900, "order"))))
    assert all(len(line) <= WIDTH for line in told.splitlines() if "partywall replay" not in line)


def test_console_prints_what_is_rendered() -> None:
    console = Console(file=StringIO(), width=WIDTH)
    given = results(judgement(violated(finding("[bold]x[/bold] :smile:"))))
    print_text(given, console, [history()])
    assert _text(console) == render(given, [history()])


def test_colour_is_given_on_a_terminal_and_repeats_only_what_the_words_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    console = Console(file=StringIO(), width=WIDTH, force_terminal=True, color_system="truecolor")
    given = results(judgement(violated()))
    print_text(given, console)
    assert "\x1b[1;31m" in _text(console)
    assert Console(file=StringIO()).render_str("x").plain == "x"


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(file=StringIO(), width=WIDTH, force_terminal=True, color_system="truecolor")
    print_text(results(judgement(violated())), console)
    assert "31m" not in _text(console)
    assert "32m" not in _text(console)


def test_console_without_utf8_gets_signs_it_can_write() -> None:
    raw = BytesIO()
    console = Console(file=TextIOWrapper(raw, encoding="ascii", write_through=True), width=WIDTH)
    print_text(results(judgement(violated(finding("é 漢")))), console)
    told = raw.getvalue().decode("ascii")
    assert "x PW101 crossed tenant" in told
    assert "x VIOLATED" in told


def test_plain_text_does_not_depend_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    given = results(judgement(violated()))
    expected = render(given)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr(sys, "stdout", StringIO())
    assert render(given) == expected


def _text(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()
