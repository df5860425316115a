"""The sweep answers as an exhaustive search does, over random small logs with ties, unknown outcomes and commits."""

from __future__ import annotations

import random

import pytest
from partywall.harness.judge.append_log import doubt, violations_of

from .exhaustive import exact, linearizable, small_log


def compared(seeds: range) -> tuple[int, int, int]:
    """How many logs were linearizable, how many not, and how many were only bounded."""
    right = wrong = bounded = 0
    for seed in seeds:
        log = small_log(random.Random(seed))
        order, found = violations_of(log)
        expected = linearizable(log)
        if not exact(log, order.values) and expected != (not found):
            assert not found, f"seed {seed}: a false alarm {found}"
            bounded += 1
            continue
        assert expected == (not found), f"seed {seed}: {log} gives {found}"
        doubted = [why for each in found if (why := doubt(log, each))]
        assert not doubted, f"seed {seed}: {doubted}"
        right, wrong = right + expected, wrong + (not expected)
    return right, wrong, bounded


def test_the_sweep_agrees_with_a_search_over_small_logs() -> None:
    right, wrong, bounded = compared(range(2_000))
    assert min(right, wrong) > 400
    assert bounded < 40


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(25))
def test_the_sweep_agrees_with_a_search_over_many_small_logs(chunk: int) -> None:
    first = 1_000_000 + 8_000 * chunk
    compared(range(first, first + 8_000))
