"""A trial prints as one line, and that line is the trial."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from partywall.harness.errors import UsageError
from partywall.harness.plan import Trial

NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(NAME, NAME, NAME, st.integers(), st.integers(1, 1000))
def test_a_trial_is_read_back_from_its_line(scenario: str, target: str, fault: str, seed: int, size: int) -> None:
    trial = Trial(scenario, target, fault, seed, size)
    line = str(trial)
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert Trial.parse(line) == trial
    assert Trial.parse(f"  {line}\n") == trial


@pytest.mark.parametrize(
    "line",
    ["", "x", "scenario=a target=b fault=c seed=1", "scenario= target=b fault=c seed=1 size=1",
     "scenario=a target=b fault=c seed=x size=1", "scenario=a target=b fault=c seed=1 size=0",
     "scenario=a target=b fault=c seed=1 size=1001", "scenario=a target=b fault=c seed=1 size=-1",
     f"scenario=a target=b fault=c seed={'9' * 5000} size=1", "target=b scenario=a fault=c seed=1 size=1"],
)  # fmt: skip
def test_what_no_trial_prints_is_refused(line: str) -> None:
    with pytest.raises(UsageError):
        Trial.parse(line)
