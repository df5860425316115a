"""Assurance: every statement to the digits of its published or independently computed value."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from partywall.harness.judge.assurance import (
    anytime_upper,
    bonferroni,
    catch_probability,
    clopper_pearson,
    clopper_pearson_upper,
    fisher_exact,
    incomplete_beta,
    paired_permutation_test,
    permutation_test,
    probe_test,
    trials_to_exclude,
    zero_failure_upper,
)

TREATED = [0.62, 0.71, 0.58, 0.80, 0.66, 0.74, 0.69, 0.77]
CONTROL = [0.51, 0.49, 0.55, 0.60, 0.47, 0.58, 0.52, 0.56]


@pytest.mark.parametrize(
    ("n", "confidence", "printed"),
    [(1000, 0.95, "0.00299125"), (1000, 0.99, "0.00459458")],
)
def test_zero_failures_exclude_a_rate(n: int, confidence: float, printed: str) -> None:
    assert f"{zero_failure_upper(n, confidence):.8f}" == printed


def test_zero_failures_of_a_million_exclude_three_in_a_million() -> None:
    assert f"{zero_failure_upper(1_000_000):.5e}" == "2.99573e-06"


@pytest.mark.parametrize(("rate", "trials"), [(1e-4, 29_956), (1e-6, 2_995_731)])
def test_trials_needed_to_exclude_a_rate_are_the_fewest_that_do(rate: float, trials: int) -> None:
    assert trials_to_exclude(rate) == trials
    assert zero_failure_upper(trials) <= rate < zero_failure_upper(trials - 1)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        (0, 1000, "0.00000000", "0.00368208"),
        (3, 1000, "0.00061910", "0.00874202"),
        (50, 50, "0.92887826", "1.00000000"),
    ],
)
def test_two_sided_interval_of_clopper_and_pearson(k: int, n: int, low: str, high: str) -> None:
    assert tuple(f"{bound:.8f}" for bound in clopper_pearson(k, n, 0.95)) == (low, high)


def test_one_sided_upper_bound_of_clopper_and_pearson() -> None:
    assert f"{clopper_pearson_upper(3, 1000, 0.95):.8f}" == "0.00773524"


@pytest.mark.parametrize(("k", "n"), [(1, 7), (5, 20), (19, 20), (40, 400)])
def test_at_the_upper_bound_so_few_failures_have_exactly_the_chance_alpha(k: int, n: int) -> None:
    p = clopper_pearson_upper(k, n, 0.95)
    assert sum(math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(k + 1)) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize(("k", "n"), [(3, 1_000_000), (500_000, 1_000_000), (999_999, 1_000_000)])
def test_bounds_of_a_million_trials_contain_the_observed_rate_and_are_narrow(k: int, n: int) -> None:
    low, high = clopper_pearson(k, n, 0.95)
    assert low < k / n < high
    assert high - low < 0.003


def test_without_a_trial_nothing_is_excluded() -> None:
    assert zero_failure_upper(0) == clopper_pearson_upper(0, 0, 0.95) == anytime_upper(0, 0) == 1.0
    assert clopper_pearson(0, 0, 0.95) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("looks", "detected", "printed"),
    [(1, 1.0, "0.001000"), (100, 1.0, "0.095208"), (2_995, 1.0, "0.950038"), (4_279, 0.7, "0.950031")],
)
def test_chance_to_catch_at_least_one_leak(looks: int, detected: float, printed: str) -> None:
    assert f"{catch_probability(looks, 1e-3, detected=detected):.6f}" == printed


def test_one_look_at_everything_catches_for_sure_and_no_look_catches_nothing() -> None:
    assert catch_probability(1, 1.0) == 1.0
    assert catch_probability(0, 1.0) == 0.0


@pytest.mark.parametrize(
    ("k", "n", "prior", "printed"),
    [
        (0, 1000, 1.0, "0.00985560"),
        (0, 1000, 0.5, "0.00699750"),
        (3, 1000, 1.0, "0.01641831"),
    ],
)
def test_anytime_bound_of_the_beta_binomial_mixture(k: int, n: int, prior: float, printed: str) -> None:
    assert f"{anytime_upper(k, n, 0.95, prior, prior):.8f}" == printed


def test_anytime_bound_of_a_hundred_thousand_clean_trials() -> None:
    assert f"{anytime_upper(0, 100_000):.4e}" == "1.4508e-04"


def test_anytime_bound_is_never_below_the_bound_of_a_single_look() -> None:
    assert all(anytime_upper(k, n) > clopper_pearson_upper(k, n) for n in (5, 50, 5000) for k in (0, 1, 4))


def test_independent_groups_are_permuted_exactly() -> None:
    assert f"{permutation_test(TREATED, CONTROL):.8f}" == "0.00023310"


def test_permutation_counts_what_a_plain_enumeration_counts() -> None:
    treated, control = [3, 1, 4, 1], [5, 9, 2]
    sums = [sum(dealt) for dealt in combinations([*treated, *control], 4)]
    assert permutation_test(treated, control) == sum(total >= sum(treated) for total in sums) / len(sums)


def test_equal_decimals_tie_although_their_binary_sums_differ() -> None:
    assert permutation_test([0.1, 0.2], [0.3, 0.0]) == 4 / 6


def test_pairs_are_permuted_exactly() -> None:
    assert f"{paired_permutation_test(TREATED, CONTROL):.8f}" == "0.00390625"


def test_pairs_without_a_difference_prove_nothing() -> None:
    assert paired_permutation_test([1.0, 2.0], [1.0, 2.0]) == 1.0


def test_one_sided_exact_test_of_fisher() -> None:
    assert f"{fisher_exact([[7, 33], [0, 40]]):.8f}" == "0.00586881"


def test_probe_that_guesses_is_told_from_one_that_knows() -> None:
    assert f"{probe_test(12, 40, 10):.5e}" == "3.80834e-04"
    assert f"{probe_test(4, 40, 10):.6f}" == "0.576869"


def test_four_directions_share_one_alpha() -> None:
    assert f"{zero_failure_upper(1000, bonferroni(0.95, 4)):.8f}" == "0.00437244"


def test_incomplete_beta_mirrors_itself_and_ends_at_zero_and_one() -> None:
    assert (incomplete_beta(2, 3, 0.0), incomplete_beta(2, 3, 1.0)) == (0.0, 1.0)
    assert incomplete_beta(2.5, 7, 0.3) + incomplete_beta(7, 2.5, 0.7) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(
    "impossible",
    [
        lambda: clopper_pearson(5, 4, 0.95),
        lambda: clopper_pearson_upper(-1, 4, 0.95),
        lambda: zero_failure_upper(10, 1.0),
        lambda: zero_failure_upper(-1),
        lambda: trials_to_exclude(0.0),
        lambda: anytime_upper(0, 10, 0.95, 0.0, 1.0),
        lambda: catch_probability(10, 1.5),
        lambda: catch_probability(-1, 0.5),
        lambda: bonferroni(0.95, 0),
        lambda: permutation_test([], [1.0]),
        lambda: paired_permutation_test([1.0], [1.0, 2.0]),
        lambda: fisher_exact([[1, -1], [0, 2]]),
        lambda: probe_test(1, 10, 1),
    ],
)
def test_numbers_that_no_experiment_gives_are_refused(impossible: object) -> None:
    assert callable(impossible)
    with pytest.raises(ValueError, match=r"got|expected|needs"):
        impossible()
