"""Reporter `junit`: what a CI server reads."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from partywall.harness.report.reporters.junit import render

from .judgements import (
    TRIAL,
    finding,
    held,
    history,
    inconclusive,
    judgement,
    not_covered,
    results,
    violated,
)
from .test_every_reporter import HOSTILE, rendered

OTHER = replace(TRIAL, scenario="cross_user")


def test_every_scenario_and_check_is_one_case() -> None:
    told = _parsed(judgement(held(), held("mixing")), judgement(held(), trial=OTHER), judgement(held(), world="twin"))
    assert [(case.get("classname"), case.get("name")) for case in told.iter("testcase")] == [
        ("partywall.cross_tenant", "cross_tenant[leak]"),
        ("partywall.cross_tenant", "cross_tenant[mixing]"),
        ("partywall.cross_user", "cross_user[leak]"),
    ]


def test_counts_of_the_suite_are_complete_and_right() -> None:
    told = _parsed(judgement(held(), violated(check="a"), inconclusive(check="b"), not_covered(check="c")))
    expected = {"tests": "4", "failures": "2", "errors": "0", "skipped": "1", "time": "9.810"}
    for element in (told, told.find("testsuite")):
        assert element is not None
        assert {name: element.get(name) for name in expected} == expected
    assert all(float(case.get("time", "")) >= 0 for case in told.iter("testcase"))


def test_violation_is_one_failure_with_its_code_and_testimony() -> None:
    told = _parsed(judgement(violated(finding("first"), finding("second", code="PW106"))))
    (failure,) = told.iter("failure")
    assert (failure.get("type"), failure.get("message")) == ("PW101,PW106", "first (and 1 more)")
    assert "second" in (failure.text or "")
    assert f"partywall replay '{TRIAL}'" in (failure.text or "")
    assert "partywall explain PW106" in (failure.text or "")


def test_inconclusive_is_a_failure_of_that_type_with_its_reason() -> None:
    (failure,) = _parsed(judgement(inconclusive("no overlap"))).iter("failure")
    assert (failure.get("type"), failure.get("message")) == ("inconclusive", "inconclusive: no overlap")


def test_not_covered_is_skipped_with_its_reason() -> None:
    (skipped,) = _parsed(judgement(not_covered("the target lacks x"))).iter("skipped")
    assert skipped.get("message") == "the target lacks x"


def test_worst_world_of_a_scenario_decides_its_case() -> None:
    told = _parsed(judgement(not_covered()), judgement(violated(), world="twin"), judgement(held()))
    assert len(list(told.iter("testcase"))) == len(list(told.iter("failure"))) == 1
    assert not list(told.iter("skipped"))


def test_scenario_that_was_not_run_is_skipped_and_a_check_not_covered_is_not_told_twice() -> None:
    given = results(judgement(not_covered()), skipped=[("purge", "not disposable")])
    told = ElementTree.fromstring(render(given, []))
    assert [case.get("name") for case in told.iter("testcase")] == ["cross_tenant[leak]", "purge[not run]"]


def test_lost_target_is_an_error_although_every_check_held() -> None:
    told = ElementTree.fromstring(render(results(judgement(held()), failures=["the target is gone"]), []))
    (error,) = told.iter("error")
    assert error.get("message") == "the target is gone"
    assert told.get("errors") == "1"


def test_time_stamp_is_that_of_the_first_history() -> None:
    told = ElementTree.fromstring(render(results(judgement(held())), [history()]))
    assert told.find("testsuite[@timestamp='2023-11-14T22:13:20+00:00']") is not None


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_parses_and_names_stay_unique(name: str) -> None:
    told = ElementTree.fromstring(rendered("junit", name))
    names = [(case.get("classname"), case.get("name")) for case in told.iter("testcase")]
    assert len(set(names)) == len(names) == int(told.get("tests", "0"))
    assert {element.tag for element in told.iter()} == {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "error",
        "skipped",
    }
    assert all(len(case) <= 1 for case in told.iter("testcase"))


def _parsed(*judgements: object) -> ElementTree.Element:
    return ElementTree.fromstring(render(results(*judgements), []))  # type: ignore[arg-type]
