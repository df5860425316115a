"""The witness verifier believes nothing that the named operations do not show."""

from __future__ import annotations

from dataclasses import replace

import pytest
from partywall.harness.catalogue import CODES
from partywall.harness.judge.append_log import INFINITY, NAMES, Append, Log, Violation, doubt, log_of, violations_of

A = Append("a", "c1", 0, 2, "ok", "A", 1)
B = Append("b", "c2", 1, 3, "ok", "B", 2)


def log(*reads: tuple[str, ...]) -> Log:
    """A and B, which overlapped, then these reads, one after the other by c3."""
    shown = [(f"r{index}", "c3", 10 * index + 10, 10 * index + 11, values) for index, values in enumerate(reads)]
    return log_of([A, B], shown, numbered=True)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("DURABILITY-LOSS", "LOCK-LOST")])
def test_a_right_log_bears_out_no_accusation(name: str) -> None:
    right = log(("A", "B"), ("A", "B"))
    one, other = right.reads
    for first, second in ((A, B), (B, A), (A, one), (one, A), (one, other), (A, None)):
        assert doubt(right, Violation(name, first, second, (one,), "A", 0))


def test_a_loss_is_borne_out_only_by_a_read_that_began_after_the_acknowledgement() -> None:
    wrong = log(("A",))
    (read,) = wrong.reads
    assert doubt(wrong, Violation("LOST-APPEND", B, read, value="B")) == ""
    assert doubt(wrong, Violation("LOST-APPEND", replace(B, ret=10), read, value="B"))
    assert doubt(wrong, Violation("LOST-APPEND", replace(B, status="info", ret=INFINITY), read, value="B"))


def test_a_session_is_held_only_to_what_it_has_itself_seen() -> None:
    stale = log_of([A, B], [("r0", "c3", 10, 11, ("A",)), ("r1", "c3", 12, 13, ("A", "B"))])
    assert [each.name for each in violations_of(stale)[1]] == ["STALE-READ"]
    assert violations_of(stale, "session")[1] == []
    backwards = log_of([A, B], [("r0", "c3", 10, 11, ("A", "B")), ("r1", "c3", 12, 13, ("A",))])
    assert [each.name for each in violations_of(backwards, "session")[1]] == ["MONOTONIC-READS"]
    assert violations_of(backwards, "eventual")[1] == []


def test_every_name_has_its_code_in_the_order_of_the_names() -> None:
    assert [CODES[f"PW{201 + index}"].id for index in range(len(NAMES))] == sorted(
        code
        for code in CODES
        if code.startswith("PW2") and code != "PW224"  # judged from the model's side
    )
