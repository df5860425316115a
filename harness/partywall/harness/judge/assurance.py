"""Assurance: what k crossings in n independent trials allow to be claimed. Standard library only, pure functions.

Trials are independent pairs of scopes or interleavings, not snippets. A confidence is 1−α, between 0 and 1.
Every function raises ValueError for numbers that no experiment can give.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

_HALVINGS = 200
_TINY = 1e-300
_MAX_STEPS = 10_000


def zero_failure_upper(n: int, confidence: float = 0.95) -> float:
    """The rate that n trials without a failure exclude, one-sided: 1−α^(1/n).

    Source: the case k = 0 of Clopper and Pearson (1934); at 95 % about 3/n, the "rule of three"
    (Hanley and Lippman-Hand, JAMA 249, 1983). Without a trial nothing is excluded: 1.
    """
    _counts(0, n)
    return -math.expm1(math.log(_alpha(confidence)) / n) if n else 1.0


def trials_to_exclude(rate: float, confidence: float = 0.95) -> int:
    """How many trials without a failure exclude a failure rate of `rate` or more: ⌈ln α / ln(1−p0)⌉."""
    if not 0 < rate < 1:
        raise ValueError(f"rate must be between 0 and 1, got {rate!r}")
    return math.ceil(math.log(_alpha(confidence)) / math.log1p(-rate))


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact two-sided interval of a rate of which k failures in n trials were seen.

    Each side carries α/2, also where k is 0 or n. Source: Clopper and Pearson, Biometrika 26 (1934), 404–413.
    """
    _counts(k, n)
    half = _alpha(confidence) / 2
    return _lower(k, n, half), _upper(k, n, half)


def clopper_pearson_upper(k: int, n: int, confidence: float = 0.95) -> float:
    """The exact one-sided upper bound of a rate of which k failures in n trials were seen; 1 without a trial."""
    _counts(k, n)
    return _upper(k, n, _alpha(confidence))


def anytime_upper(k: int, n: int, confidence: float = 0.95, a: float = 1.0, b: float = 1.0) -> float:
    """An upper bound that holds at every n at once, so that one may look as often as one likes.

    The largest p whose beta-binomial mixture martingale B(a+k, b+n−k) / (B(a, b)·p^k·(1−p)^(n−k)) stays below
    1/α (Robbins, 1970; Ville's inequality). A fixed-n interval looked at repeatedly misses far more often than
    it says.
    """
    _counts(k, n)
    if a <= 0 or b <= 0:
        raise ValueError(f"a beta prior needs two positive numbers, got {a!r} and {b!r}")
    if k == n:
        return 1.0
    floor = math.log(_alpha(confidence)) + _log_beta(a + k, b + n - k) - _log_beta(a, b)

    def excluded(p: float) -> bool:
        likelihood = (n - k) * math.log1p(-p) if p < 1 else -math.inf
        if k:
            likelihood += k * math.log(p)
        return likelihood < floor

    return _first(excluded, k / n)


def catch_probability(looks: int, sampled: float, carried: float = 1.0, detected: float = 1.0) -> float:
    """The chance that at least one of `looks` leaks is caught: 1−(1−s·c·d)^L.

    `sampled` is the share of reads that are looked at, `carried` the share of leaked content that holds a canary,
    `detected` the sensitivity of the detector, from the positive controls.
    """
    for name, share in (("sampled", sampled), ("carried", carried), ("detected", detected)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must be a share from 0 to 1, got {share!r}")
    if looks < 0:
        raise ValueError(f"looks must not be negative, got {looks!r}")
    each = sampled * carried * detected
    if each == 1:
        return float(looks > 0)
    return -math.expm1(looks * math.log1p(-each))


def bonferroni(confidence: float, comparisons: int) -> float:
    """The confidence of each of several statements that hold together with `confidence`: 1−α/m."""
    if comparisons < 1:
        raise ValueError(f"comparisons must be at least 1, got {comparisons!r}")
    return 1 - _alpha(confidence) / comparisons


def permutation_test(treated: Sequence[float], control: Sequence[float]) -> float:
    """The exact one-sided p-value that `treated` is larger than `control` by chance alone, groups independent.

    The share of all ways to deal the pooled values into groups of these sizes whose first group has a sum at
    least as large. Values count as they are printed, so that equal decimals are equal. Source: Pitman (1937).
    """
    if not treated or not control:
        raise ValueError("a permutation test needs values in both groups")
    values = _integers([*treated, *control])
    size, seen = len(treated), sum(values[: len(treated)])
    dealt: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(size))]
    for value in values:
        for taken in range(size, 0, -1):
            for total, ways in dealt[taken - 1].items():
                dealt[taken][total + value] += ways
    return sum(ways for total, ways in dealt[size].items() if total >= seen) / math.comb(len(values), size)


def paired_permutation_test(treated: Sequence[float], control: Sequence[float]) -> float:
    """The exact one-sided p-value that pairs differ upwards by chance alone: every sign of every difference.

    Source: Fisher, The Design of Experiments (1935), the randomisation test for paired values.
    """
    if not treated or len(treated) != len(control):
        raise ValueError(f"pairs need two groups of one size, got {len(treated)} and {len(control)}")
    values = _integers([*treated, *control])
    differences = [one - other for one, other in zip(values[: len(treated)], values[len(treated) :], strict=True)]
    sums: Counter[int] = Counter({0: 1})
    for difference in differences:
        following: Counter[int] = Counter()
        for total, ways in sums.items():
            following[total + difference] += ways
            following[total - difference] += ways
        sums = following
    seen = sum(differences)
    return float(Fraction(sum(ways for total, ways in sums.items() if total >= seen), 2 ** len(differences)))


def fisher_exact(table: Sequence[Sequence[int]]) -> float:
    """The one-sided p-value that the first row's share of the first column is larger by chance alone.

    `table` is [[a, b], [c, d]]: with the margins fixed, the hypergeometric chance of a or more.
    Source: Fisher, Journal of the Royal Statistical Society 98 (1935).
    """
    (a, b), (c, d) = table
    if min(a, b, c, d) < 0:
        raise ValueError(f"a table of counts has no negative numbers, got {table!r}")
    row, column, total = a + b, a + c, a + b + c + d
    ways = sum(math.comb(row, x) * math.comb(total - row, column - x) for x in range(a, min(row, column) + 1))
    return float(Fraction(ways, math.comb(total, column)))


def probe_test(hits: int, n: int, choices: int) -> float:
    """The one-sided p-value of picking the right one of `choices` at least `hits` times in n by guessing.

    The chance that Binomial(n, 1/choices) is at least `hits`, summed exactly.
    """
    _counts(hits, n)
    if choices < 2:
        raise ValueError(f"guessing needs at least 2 choices, got {choices!r}")
    ways = sum(math.comb(n, x) * (choices - 1) ** (n - x) for x in range(hits, n + 1))
    return float(Fraction(ways, choices**n))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction.

    Source: DLMF 8.17.22, evaluated by the modified Lentz method (Thompson and Barnett, 1986), on the side of the
    mean where it converges fast.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - _log_beta(a, b)) / a
    return front / _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, _MAX_STEPS):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _nonzero(1 + term * d)
        c = _nonzero(1 + term / c)
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _upper(k: int, n: int, tail: float) -> float:
    """The p at which k failures or fewer have the chance `tail`: P(X ≤ k) = 1 − I_p(k+1, n−k)."""
    if k == n:
        return 1.0
    if k == 0:
        return -math.expm1(math.log(tail) / n)
    return _first(lambda p: incomplete_beta(n - k, k + 1, 1 - p) < tail, k / n)


def _lower(k: int, n: int, tail: float) -> float:
    """The p at which k failures or more have the chance `tail`: P(X ≥ k) = I_p(k, n−k+1)."""
    if k == 0:
        return 0.0
    if k == n:
        return math.exp(math.log(tail) / n)
    return _first(lambda p: incomplete_beta(k, n - k + 1, p) > tail, 0.0)


def _first(reached: Callable[[float], bool], low: float) -> float:
    """Where a condition that holds from some point in [low, 1] on begins to hold, by bisection."""
    high = 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _integers(values: Sequence[float]) -> list[int]:
    """Values on one scale of whole numbers, read as the decimals they print as: 0.1 + 0.2 is 0.3 here."""
    exact = [Fraction(str(value)) for value in values]
    scale = math.lcm(*(value.denominator for value in exact))
    return [int(value * scale) for value in exact]


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _counts(k: int, n: int) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"expected 0 to {n} failures in {n} trials, got {k}")


def _alpha(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, got {confidence!r}")
    return 1 - confidence
