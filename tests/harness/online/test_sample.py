"""The sample: keyed, consistent, even; and the budget of what it costs."""

from __future__ import annotations

from partywall.harness.online.hashing import Hashes
from partywall.harness.online.sample import Budget, Sample

HASHES = Hashes(b"k" * 32)


def test_a_higher_rate_keeps_the_sample_of_a_lower_one() -> None:
    names = [f"session-{n}" for n in range(20_000)]
    low, high = (set(filter(Sample(HASHES, rate).takes, names)) for rate in (0.01, 0.05))
    assert low < high
    assert set(filter(Sample(HASHES, 1).takes, names)) == set(names)
    assert not set(filter(Sample(HASHES, 0).takes, names))


def test_sequential_ids_are_sampled_evenly() -> None:
    share = sum(map(Sample(HASHES, 0.01).takes, (f"{n:032x}" for n in range(50_000)))) / 50_000
    assert 0.008 < share < 0.012


def test_another_key_draws_another_sample() -> None:
    names = [f"s{n}" for n in range(2000)]
    one, other = (set(filter(Sample(hashes, 0.1).takes, names)) for hashes in (HASHES, Hashes(b"j" * 32)))
    assert one != other


def test_a_fraction_has_53_bits_and_never_reaches_1() -> None:
    fractions = [HASHES.fraction(str(n)) for n in range(1000)]
    assert all(0 <= one < 1 and (one * 2**53).is_integer() for one in fractions)


def test_hashed_names_keep_their_parts_apart() -> None:
    assert len({HASHES.name("ab", "c"), HASHES.name("a", "bc"), HASHES.name("abc"), HASHES.name("abc", None)}) == 4


def test_what_was_spent_beyond_the_budget_is_paid_back_first() -> None:
    now = 0.0
    budget = Budget(0.1, lambda: now)
    assert budget.allows()
    budget.spend(0.3)
    assert not budget.allows()
    now = 1.9
    assert not budget.allows()
    now = 2.2
    assert budget.allows()
