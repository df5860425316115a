"""A verdict cannot be built as held without its control, whatever else it is built of."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from partywall.harness.judge.check import conclude
from partywall.harness.judge.verdict import Cell, Control, Finding, Status, Verdict, worst
from partywall.harness.plan import Guarantee

STATUSES = st.sampled_from(Status)
CONTROLS = st.lists(st.builds(Control, st.text(max_size=4), st.text(max_size=4), st.booleans()), max_size=4)
FINDINGS = st.lists(
    st.builds(
        Finding,
        code=st.just("PW101"),
        guarantee=st.just(Guarantee.ISOLATION),
        claim=st.text(max_size=4),
        boundary=st.just("tenant"),
        owner=st.just("acme/ann"),
        observer=st.just("zeta/ann"),
        channel=st.just("turns"),
        fingerprint=st.text(max_size=4),
    ),
    max_size=2,
)


@given(STATUSES, FINDINGS, CONTROLS, st.text(max_size=4))
def test_a_verdict_is_held_only_with_controls_that_all_passed_and_no_finding(
    status: Status, findings: list[Finding], controls: list[Control], reason: str
) -> None:
    proved = bool(controls) and all(control.passed for control in controls)
    lawful = (status is Status.VIOLATED) == bool(findings) and (status is not Status.HELD or proved)
    try:
        Verdict("any", Guarantee.ISOLATION, status, reason, tuple(findings), tuple(controls))
    except ValueError:
        assert not lawful
    else:
        assert lawful


@given(STATUSES, st.booleans())
def test_a_cell_is_held_only_with_its_control(status: Status, control: bool) -> None:
    if status is Status.HELD and not control:
        with pytest.raises(ValueError, match="without its control"):
            Cell("tenant", "turns", "plain", status, control)
    else:
        assert Cell("tenant", "turns", "plain", status, control).status is status


@given(FINDINGS, CONTROLS, st.booleans())
def test_what_is_concluded_is_never_better_than_its_controls(
    findings: list[Finding], controls: list[Control], covered: bool
) -> None:
    verdict = conclude("any", Guarantee.ISOLATION, findings, controls, covered=covered)
    failed = any(not control.passed for control in controls)
    if findings:
        assert verdict.status is Status.VIOLATED
    elif not covered:
        assert verdict.status is Status.NOT_COVERED
    elif failed or not controls:
        assert verdict.status is Status.INCONCLUSIVE
        assert verdict.reason
    else:
        assert verdict.status is Status.HELD


@given(st.lists(STATUSES, max_size=6), st.lists(STATUSES, max_size=6))
def test_the_worst_of_two_lists_is_the_worst_of_their_worsts_in_either_order(
    one: list[Status], other: list[Status]
) -> None:
    assert worst(one + other) == worst((worst(one), worst(other))) == worst((worst(other), worst(one)))


@given(st.lists(STATUSES, max_size=6))
def test_the_worst_is_one_of_them_and_saying_it_twice_changes_nothing(statuses: list[Status]) -> None:
    found = worst(statuses)
    assert found in (statuses or [Status.NOT_COVERED])
    assert worst((found, found)) is found
    assert worst([*statuses, *statuses]) is found


@given(st.lists(STATUSES, max_size=6))
def test_not_covered_never_lowers_and_never_lifts_a_status(statuses: list[Status]) -> None:
    covered = [status for status in statuses if status is not Status.NOT_COVERED]
    assert worst(statuses) is worst(covered)


def test_the_worst_of_two_statuses_is_told_by_the_order_alone() -> None:
    order = [Status.NOT_COVERED, Status.HELD, Status.INCONCLUSIVE, Status.VIOLATED]
    for one, other in itertools.product(order, repeat=2):
        assert worst((one, other)) is max(one, other, key=order.index)
