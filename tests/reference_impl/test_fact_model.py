"""Supersession against a model that knows no intervals: it looks through all assertions anew for every question."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from partywall.reference_impl.facts import Assertion, Claim, Fact, believed, supersede
from partywall.reference_impl.layers import Layer

_VALUES = st.sampled_from("abc")
_DAYS = st.integers(0, 9)
_STEPS = st.lists(st.tuples(_VALUES, st.integers(1, 3), st.none() | _DAYS), max_size=14)
"""What is said, how long after the last, and since when it is said to hold: some days before; None for from now on."""


@dataclass(frozen=True)
class Said:
    """A value, since when it holds, and when that was said."""

    value: str
    since: float
    at: float


class Model:
    """Remembers what was said and changed anything."""

    def __init__(self) -> None:
        self.said: list[Said] = []

    def holds(self, at: float, known_at: float) -> str | None:
        """What was believed at `known_at` of the instant `at`: of what began by then the last to begin, and of what
        began alike the last to be said."""
        known = [each for each in self.said if each.at <= known_at and each.since <= at]
        return max(enumerate(known), key=lambda each: (each[1].since, each[0]))[1].value if known else None

    def hear(self, value: str, since: float, at: float) -> bool:
        """Whether it says anything new."""
        new = self.holds(since, at) != value
        if new:
            self.said.append(Said(value, since, at))
        return new


def _run(steps: list[tuple[str, int, int | None]]) -> tuple[Model, list[Claim], float]:
    model, claims, now = Model(), list[Claim](), 0.0
    for value, pause, days in steps:
        now += pause
        since = now if days is None else max(0.0, now - days)
        new = supersede(claims, Assertion("rule", value, Layer.TASK, now, None, None if days is None else since))
        assert (new is not None) == model.hear(value, since, now)
        claims += [] if new is None else [new]
    return model, claims, now


def _value(chain: list[Fact], at: float) -> str | None:
    holding = [fact.value for fact in chain if fact.holds(at)]
    assert len(holding) <= 1
    return holding[0] if holding else None


@settings(deadline=None)
@given(_STEPS)
def test_every_belief_of_every_instant_is_the_models(steps: list[tuple[str, int, int | None]]) -> None:
    model, claims, end = _run(steps)
    instants = [half / 2 for half in range(int(end) * 2 + 3)]
    for known_at in instants:
        chain = believed(claims, known_at)
        assert [_value(chain, at) for at in instants] == [model.holds(at, known_at) for at in instants]


@settings(deadline=None)
@given(_STEPS)
def test_when_a_version_gave_way_and_to_which_is_when_the_models_belief_changed(
    steps: list[tuple[str, int, int | None]],
) -> None:
    model, claims, _ = _run(steps)
    for fact in believed(claims):
        if fact.superseded_at is None:
            assert (fact.valid_to, fact.superseded_by) == (None, None)
            continue
        assert fact.valid_to is not None
        [follower] = [claim for claim in claims if claim.version == fact.superseded_by]
        assert follower.valid_from == fact.valid_to
        assert fact.superseded_at == max(fact.claim.recorded_at, follower.recorded_at)
        assert model.holds(fact.valid_to, fact.superseded_at) == follower.value


@settings(deadline=None)
@given(_STEPS)
def test_saying_again_what_is_believed_changes_nothing(steps: list[tuple[str, int, int | None]]) -> None:
    model, claims, end = _run(steps)
    for at in range(int(end) + 2):
        held = model.holds(float(at), end)
        if held is not None:
            assert supersede(claims, Assertion("rule", held, Layer.TASK, end, None, float(at))) is None


@settings(deadline=None)
@given(_VALUES, _VALUES, st.floats(0, 1e15))
def test_two_values_of_one_instant_follow_each_other_however_late_it_is(one: str, other: str, now: float) -> None:
    claims: list[Claim] = []
    for value in (one, other):
        new = supersede(claims, Assertion("rule", value, Layer.TASK, now, None))
        claims += [] if new is None else [new]
    chain = believed(claims)
    assert [fact.value for fact in chain] == ([one] if one == other else [one, other])
