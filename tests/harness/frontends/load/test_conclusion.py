"""The exit code of a load run: a leak first, what went unseen next, thresholds last."""

from __future__ import annotations

from typing import Any

import pytest
from partywall.harness.exits import Exit
from partywall.harness.frontends.load_merge import Tally
from partywall.harness.frontends.load_run import conclusion
from partywall.harness.judge.verdict import Status

HELD, VIOLATED, UNKNOWN, NOTHING = Status.HELD, Status.VIOLATED, Status.INCONCLUSIVE, Status.NOT_COVERED
FINE: dict[str, Any] = {"requests": 100, "checked": 100}

CASES: dict[str, tuple[Status, dict[str, Any], tuple[str, ...], Exit, str]] = {
    "held": (HELD, FINE, (), Exit.HELD, ""),
    "violated": (VIOLATED, FINE, (), Exit.VIOLATED, ""),
    "inconclusive": (UNKNOWN, FINE, (), Exit.INCONCLUSIVE, ""),
    "nothing covered": (NOTHING, FINE, (), Exit.NOTHING_COVERED, ""),
    "a leak that the history does not hold": (HELD, {**FINE, "foreign": 3}, (), Exit.VIOLATED, "did not reach"),
    "a leak, then the target is gone": (VIOLATED, FINE, ("target gone",), Exit.VIOLATED, "target gone"),
    "a leak beside lost workers": (VIOLATED, {**FINE, "lost": (1,)}, (), Exit.VIOLATED, "worker 1 left no"),
    "a leak beside failures": (VIOLATED, {**FINE, "failed": 90}, (), Exit.VIOLATED, "90 of 100 requests failed"),
    "the target is gone": (HELD, FINE, ("target gone",), Exit.LOST, "target gone"),
    "the target is gone, nothing shown": (UNKNOWN, FINE, ("target gone",), Exit.LOST, "target gone"),
    "a worker is lost": (HELD, {**FINE, "lost": (0,)}, (), Exit.LOST, "worker 0 left no history"),
    "one request unseen": (HELD, {"requests": 100, "checked": 99}, (), Exit.LOST, "99 of 100 requests were checked"),
    "a task raised": (HELD, {**FINE, "exceptions": ("boom",)}, (), Exit.LOST, "raised boom"),
    "not one request": (NOTHING, {}, (), Exit.LOST, "not one request"),
    "too many failed": (HELD, {**FINE, "failed": 6}, (), Exit.THRESHOLD, "6 of 100 requests failed (6.0%)"),
    "as many as may fail": (HELD, {**FINE, "failed": 5}, (), Exit.HELD, ""),
    "too many failed, nothing shown": (UNKNOWN, {**FINE, "failed": 60}, (), Exit.INCONCLUSIVE, "60 of 100"),
    "too many failed, nothing covered": (NOTHING, {**FINE, "failed": 60}, (), Exit.THRESHOLD, "60 of 100"),
    "a broken contract": (VIOLATED, {**FINE, "problems": ("x returned y",)}, (), Exit.USAGE, ""),
}


@pytest.mark.parametrize(("status", "counted", "failures", "code", "told"), CASES.values(), ids=list(CASES))
def test_the_exit_code_follows_the_precedence(
    status: Status, counted: dict[str, Any], failures: tuple[str, ...], code: Exit, told: str
) -> None:
    ended = conclusion(status, Tally(**counted), failures, max_failed=0.05)
    assert ended.code is code
    assert told in "; ".join(ended.failures)
    assert bool(told) is bool(ended.failures)
    assert (ended.status is Status.VIOLATED) is (status is Status.VIOLATED or counted.get("foreign", 0) > 0)
    if code in (Exit.LOST, Exit.INCONCLUSIVE):
        assert ended.status is Status.INCONCLUSIVE


@pytest.mark.parametrize(("counted", "code"), [(FINE, Exit.HELD), ({**FINE, "failed": 6}, Exit.THRESHOLD)])
def test_inconclusive_may_be_allowed_and_a_threshold_still_counts(counted: dict[str, Any], code: Exit) -> None:
    assert conclusion(UNKNOWN, Tally(**counted), (), 0.05, allow_inconclusive=True).code is code


def test_what_was_never_seen_is_not_allowed_by_allowing_the_inconclusive() -> None:
    ended = conclusion(HELD, Tally(requests=10, checked=9), (), 0.05, allow_inconclusive=True)
    assert ended.code is Exit.LOST
