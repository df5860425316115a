"""Reporter `markdown`: what stands in the step summary of a CI run."""

from __future__ import annotations

import re

import pytest
from partywall.harness.judge.verdict import Status
from partywall.harness.report.reporters.markdown import SHOWN_FINDINGS, SHOWN_ROWS, render

from .judgements import (
    TRIAL,
    cell,
    evidence,
    finding,
    held,
    inconclusive,
    judgement,
    not_covered,
    results,
    violated,
)
from .test_every_reporter import HOSTILE, rendered

MEGABYTE = 1024 * 1024
OUR_TAGS = re.compile(r"</?code>")
OUR_ENTITIES = re.compile(r"&(?:#\d+|amp|lt|gt);")


def test_status_stands_in_the_first_line_as_sign_and_word() -> None:
    assert render(results(judgement(violated()))).startswith("## ✘ VIOLATED: <code>reference</code>\n")


def test_matrix_is_a_table_of_boundary_and_channel() -> None:
    cells = [cell(Status.VIOLATED, carrier="base64"), cell(channel="list"), cell(Status.INCONCLUSIVE, boundary="user")]
    told = render(results(judgement(violated(cells=cells))))
    table = "| boundary | search | list |\n| --- | --- | --- |\n| tenant | ✘ as base64 | ✔ |\n| user | ? | – |\n"
    assert table in told
    assert "✔ held · ✘ violated · ? inconclusive · – not covered" in told


def test_finding_has_code_claim_where_first_seen_replay_and_explain() -> None:
    told = render(results(judgement(violated(finding("ann saw zoe's", evidence=(evidence("the order"),))))))
    for words in (
        "**PW101 crossed tenant**",
        "- ann saw zoe's",
        "- first seen: probe <code>p7</code>, search&#95;memory at <code>/0/text</code>",
        "- evidence: <code>the order</code>",
        f"- <code>partywall replay '{str(TRIAL).replace('_', '&#95;')}'</code>",
        "- <code>partywall explain PW101</code>",
    ):
        assert words in told


def test_checks_and_what_was_not_covered_are_told_with_reasons() -> None:
    told = render(results(judgement(inconclusive("no overlap"), not_covered("lacks x", "takeover"))))
    assert "| leak | ? INCONCLUSIVE | no overlap |" in told
    assert told.count("| takeover |") == 2


def test_claim_stands_with_its_denominator() -> None:
    told = render(results(judgement(held("leak", cell()))))
    assert "| crossings of tenant per world and channel | 0 of 1 | 95 % | 95 % | 100 % |" in told


def test_summary_shows_some_findings_and_says_how_many_more() -> None:
    many = [finding(fingerprint=f"f{n}") for n in range(SHOWN_FINDINGS + 3)]
    told = render(results(judgement(violated(*many))))
    assert told.count("**PW101") == SHOWN_FINDINGS
    assert "3 more kinds of finding stand in `results.json`." in told


def test_matrix_too_wide_to_read_is_cut_and_says_so() -> None:
    told = render(results(judgement(held("leak", *(cell(channel=f"c{n}") for n in range(SHOWN_ROWS + 5))))))
    assert f"| c{SHOWN_ROWS - 1} |" in told
    assert f"| c{SHOWN_ROWS} |" not in told
    assert "5 more channels stand in `results.json`." in told


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_brings_no_html_link_image_or_table_break(name: str) -> None:
    told = rendered("markdown", name)
    bare = OUR_ENTITIES.sub("", OUR_TAGS.sub("", told))
    assert not set("<>[]&@$") & set(bare)
    assert "://" not in bare
    assert "(javascript" not in bare
    tables = re.findall(r"(?:^\|.*\n)+", told, re.MULTILINE)
    assert tables
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_leaves_code_tags_paired_on_each_line(name: str) -> None:
    for line in rendered("markdown", name).splitlines():
        assert line.count("<code>") == line.count("</code>")


def test_summary_of_the_longest_run_fits_into_a_step_summary() -> None:
    text = "<|`>" * 400
    seen = evidence(text, probe=text, op=text, place=text, decoded=(text,))
    many = [finding(text, code=text, fingerprint=f"f{n}", evidence=(seen,)) for n in range(100)]
    checks = [inconclusive(text, f"check {n}") for n in range(100)]
    fields = [cell(boundary=f"b{n}", channel=f"{text[:40]}{m}") for n in range(70) for m in range(70)]
    told = judgement(violated(*many, cells=fields), *checks)
    given = results(told, skipped=[(f"s{n}{text}", text) for n in range(100)])
    assert len(render(given).encode()) < MEGABYTE
