"""The share of calls that overlapped another client's, as a comparison of all pairs gives it."""

from __future__ import annotations

import random

from partywall.harness.judge.append_log import overlap


def by_pairs(calls: list[tuple[str, int, float]]) -> float:
    met = [
        any(other[0] != one[0] and other[1] <= one[2] and one[1] <= other[2] for other in calls if other is not one)
        for one in calls
    ]
    return sum(met) / len(met) if met else 0.0


def test_the_overlap_is_what_a_comparison_of_all_pairs_gives() -> None:
    for seed in range(500):
        rng = random.Random(seed)
        calls = []
        for _ in range(rng.randint(0, 12)):
            call = rng.randrange(20)
            calls.append((f"c{rng.randrange(4)}", call, float(call + rng.randrange(6))))
        assert overlap(calls) == by_pairs(calls)


def test_one_client_never_overlaps_itself() -> None:
    assert overlap([("c1", 0, 10.0), ("c1", 5, 15.0)]) == 0.0


def test_equal_stamps_overlap() -> None:
    assert overlap([("c1", 0, 5.0), ("c2", 5, 9.0)]) == 1.0
