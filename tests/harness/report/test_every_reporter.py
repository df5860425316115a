"""Every reporter, those to come included: hostile text does no harm in it, and no canary stands whole."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from partywall.harness.judge.verdict import Control, Status
from partywall.harness.observe.history import History
from partywall.harness.observe.journal import load
from partywall.harness.report.build import build
from partywall.harness.report.reporter import reporters
from partywall.harness.report.results import Results

from .judgements import (
    CANARY,
    CAPABILITIES,
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

EVIDENCE_FILES = {"history"}
"""Reporters whose file is the evidence itself, canaries whole; ASCII only, so that it cannot act either."""

HOSTILE = {
    "clear the screen": "\x1b[2J\x1b[H\x9b31mgone",
    "title and link": "\x1b]0;owned\x07\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "script": "</code></pre><script>alert(1)</script><img src=x onerror=alert(1)>",
    "table break": "a | b |\n| --- |\n`` ` ``` [x](javascript:alert(1)) ![i](http://evil.example/i)",
    "workflow command": "::error::boom\n::stop-commands::x\n##[error]boom\n  ::add-mask::a",
    "bidi": "user\u202egnihton\u202c\u2066x\u2069\u200f",
    "nul and controls": "".join(map(chr, range(0x20))) + "\x7f" + "".join(map(chr, range(0x80, 0xA0))),
    "lone surrogate": "half \ud800 of \udfff a sign \ufffe\uffff",
    "canary": f"{CANARY} and {CANARY.upper()} and {CANARY[:4]}\x1b[0m{CANARY[4:]} and {CANARY[:8]}\u200b{CANARY[8:]}",
    "markup of a console": "[bold red]x[/bold red] [/nothing] [link=http://evil.example]y[/link] \\",
    "xml": "]]> &lt; <!-- --> <?pi?> <![CDATA[ &#0; \"quoted\" 'quoted'",
    "long": "x" * 100_000,
    "long words": "palabra <b>ñ</b> " * 2_000,
}
FORBIDDEN = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *map(chr, range(0xD800, 0xE000))} - {"\n", "\t"}
FORBIDDEN |= set("\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2066\u2067\u2068\u2069\u200e\u200f\u061c\ufffe\uffff")


def hostile(text: str) -> Results:
    """Results in which every text that a target can choose is `text`."""
    seen = evidence(text, probe=text, op=text, place=text, decoded=(text,), canary=text, planted_by=text)
    leaked = finding(text, owner=text, observer=text, channel=text, carrier=text, evidence=(seen, seen))
    fields = [cell(Status.VIOLATED, channel=text, carrier=text), cell(Status.INCONCLUSIVE, boundary=text)]
    verdict = violated(leaked, finding(text, code=text, fingerprint=text), cells=fields)
    control = Control(text, text, False, text)
    told = [
        judgement(verdict, inconclusive(text, "order"), not_covered(text, "takeover"), held("mixing")),
        judgement(inconclusive(text, text), not_covered(text, text + "\x00")),
    ]
    made = build(
        told,
        target=text,
        capabilities=CAPABILITIES,
        trial=str(TRIAL),
        seed=1,
        status=Status.VIOLATED,
        exit_code=1,
        skipped=[(text, text), (text + "\x00", text)],
        problems=[text],
        failures=[text],
    )
    record = made.model_dump()
    for place in (*record["verdicts"], *record["verdicts"][0]["findings"], *record["trials"]):
        place["trial"] = text
    record["verdicts"][0]["controls"] = [{"name": control.name, "channel": text, "passed": False, "detail": text}]
    record["checklist"] = [{"point": 1, "status": "held", "evidence": text}]
    record["assurance"].append(
        {"statement": text, "n": 3, "k": 0, "upper": 0.6, "confidence": 0.95, "sensitivity": 1.0}
    )
    return Results.model_validate(record)


@cache
def rendered(reporter: str, name: str) -> str:
    """What a reporter makes of one hostile text."""
    return reporters()[reporter].render(hostile(HOSTILE[name]), _histories(HOSTILE[name]))


def _histories(text: str) -> list[History]:
    return [history(text)]


everywhere = pytest.mark.parametrize("reporter", sorted(reporters()))
with_all = pytest.mark.parametrize("name", sorted(HOSTILE))


@everywhere
@with_all
def test_no_control_character_reaches_a_report(reporter: str, name: str) -> None:
    assert set(rendered(reporter, name)) & FORBIDDEN == set()


@everywhere
@with_all
def test_no_report_prints_a_whole_canary(reporter: str, name: str) -> None:
    if reporter in EVIDENCE_FILES:
        assert CANARY in rendered(reporter, name)
    else:
        assert CANARY not in rendered(reporter, name).lower()
        assert CANARY[5:] not in rendered(reporter, name).lower()


@everywhere
@with_all
def test_every_report_can_be_written_as_utf8_and_ends_with_a_line_end(reporter: str, name: str) -> None:
    assert rendered(reporter, name).encode("utf-8").endswith(b"\n")


@everywhere
@with_all
def test_no_report_is_a_workflow_command_to_a_ci_log(reporter: str, name: str) -> None:
    if reporter in {"text", "markdown"}:
        lines = rendered(reporter, name).splitlines()
        assert not [line for line in lines if line.lstrip().startswith("::") or "##[" in line or "##vso[" in line]


@everywhere
@with_all
def test_no_report_of_a_long_text_is_long(reporter: str, name: str) -> None:
    if reporter not in EVIDENCE_FILES:
        assert len(rendered(reporter, name).encode()) < 4 * 1024 * 1024


@everywhere
def test_a_report_is_a_function_of_what_it_is_given(reporter: str) -> None:
    given = results(judgement(violated()), judgement(held()))
    render = reporters()[reporter].render
    assert render(given, [history()]) == render(given, [history()])


@everywhere
def test_every_reporter_tells_of_a_run_that_saw_nothing(reporter: str) -> None:
    assert isinstance(reporters()[reporter].render(results(), []), str)


@everywhere
@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (held(), {"held", 'failures="0"'}),
        (violated(), {"violated", "pw101"}),
        (inconclusive("no overlap was reached"), {"inconclusive", "no overlap was reached"}),
        (not_covered("the target lacks search_memory"), {"not covered", "not_covered", "skipped"}),
    ],
    ids=["held", "violated", "inconclusive", "not covered"],
)
def test_every_reporter_tells_statuses_apart(reporter: str, verdict: object, words: set[str]) -> None:
    if reporter not in EVIDENCE_FILES:
        told = reporters()[reporter].render(results(judgement(verdict)), [history()]).lower()  # type: ignore[arg-type]
        assert any(word in told for word in words)


def test_every_reporter_writes_a_file_of_its_own() -> None:
    names = [reporter.filename for reporter in reporters().values()]
    assert len(set(names)) == len(names)
    assert all(Path(name).name == name and not name.startswith(".") for name in names)


def test_the_evidence_file_can_be_read_back() -> None:
    written = reporters()["history"].render(results(), [history("half \ud800"), history()])
    assert [read.entries for read in load(written.splitlines())] == [history("half \ud800").entries, history().entries]


def test_json_is_read_back_as_the_results_it_came_from() -> None:
    given = results(judgement(violated()), judgement(held()))
    assert Results.model_validate(json.loads(reporters()["json"].render(given, []))) == given
