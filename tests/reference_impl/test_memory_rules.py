"""The memory core as pure rules: layers, lifecycle, supersession, and what it may import."""

from __future__ import annotations

import ast
import sys
from itertools import pairwise
from pathlib import Path

import partywall.reference_impl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partywall.canaries import Level, Scope, ScopeError
from partywall.reference_impl.facts import Assertion, Claim, Fact, believed, supersede
from partywall.reference_impl.layers import Layer, visible
from partywall.reference_impl.lifecycle import Life, Limits, State

HOME = Path(partywall.reference_impl.__file__).parent
CORE = {
    *(
        "append",
        "clock",
        "facts",
        "keys",
        "knowledge",
        "layers",
        "lifecycle",
        "locks",
        "marks",
        "refusals",
        "used_keys",
    ),
    "session_context",
}


@pytest.mark.parametrize("module", sorted(CORE))
def test_the_memory_core_imports_the_standard_library_only(module: str) -> None:
    tree = ast.parse((HOME / f"{module}.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= sys.stdlib_module_names
        if isinstance(node, ast.ImportFrom):
            name = node.module or ""
            if node.level:
                assert node.level == 1, f"{module} reaches out of its package"
                assert name in CORE, f"{module} imports {name}, which is no part of the core"
            else:
                assert name == "partywall.canaries" or name.split(".")[0] in sys.stdlib_module_names


def test_an_entry_is_owned_down_to_its_layer() -> None:
    scope = Scope("acme", "ann", "s1", "k1")
    assert Layer.USER.owner(scope) == Scope("acme", "ann")
    assert Layer.SESSION.owner(scope) == Scope("acme", "ann", "s1")
    assert Layer.TASK.owner(scope) == scope
    with pytest.raises(ScopeError):
        Layer.TASK.owner(Scope("acme", "ann", "", "k1"))
    assert visible(Scope("acme", "ann", "", "k1")) == (Layer.USER,)
    assert Layer.TASK.level is Level.TASK


def test_activity_never_extends_the_absolute_end() -> None:
    limits = Limits(idle_after=10, lifetime=100, archive_after=1000)
    busy = Life(created_at=0, last_active=99.9)
    states = [busy.state(now, limits) for now in (99.95, 100, 1099, 1100)]
    assert states == [State.ACTIVE, State.EXPIRED, State.EXPIRED, State.ARCHIVED]
    assert Life(0, 0).state(10, limits) is State.IDLE
    assert Life(0, 0).writable(10, limits)
    assert not busy.writable(100, limits)


def _said(value: str, at: float, valid_from: float | None = None) -> Assertion:
    return Assertion("rule", value, Layer.TASK, at, 1, valid_from)


def _claims(*said: Assertion) -> list[Claim]:
    claims: list[Claim] = []
    for each in said:
        new = supersede(claims, each)
        claims += [] if new is None else [new]
    return claims


def _told(chain: list[Fact]) -> list[tuple[str, float, float | None]]:
    return [(fact.value, fact.valid_from, fact.valid_to) for fact in chain]


def test_a_new_value_closes_the_old_and_points_to_the_new() -> None:
    old, new = believed(_claims(_said("1", 10.0), _said("2", 20.0)))
    assert (old.valid_to, old.superseded_by, old.superseded_at) == (20.0, new.version, 20.0)
    assert (new.valid_from, new.valid_to, new.superseded_by) == (20.0, None, None)
    assert [fact.value for fact in (old, new) if fact.holds(20.0)] == ["2"]
    assert [fact.value for fact in (old, new) if fact.holds(19.9)] == ["1"]


def test_the_same_value_makes_no_new_version() -> None:
    assert len(_claims(_said("1", 10.0), _said("1", 20.0), _said("1", 30.0, valid_from=12.0))) == 1


@pytest.mark.parametrize("at", [10.0, 5.0])
def test_a_clock_that_stands_or_goes_back_leaves_no_overlap(at: float) -> None:
    claims = _claims(_said("1", 10.0), _said("2", at))
    old, new = believed(claims)
    assert old.valid_to == new.valid_from
    assert new.valid_from > old.valid_from
    assert claims[1].recorded_at >= claims[0].recorded_at


def test_a_value_from_before_holds_until_what_began_later_and_moves_none_of_it() -> None:
    claims = _claims(_said("1", 10.0), _said("3", 30.0), _said("2", 40.0, valid_from=20.0))
    assert _told(believed(claims)) == [("1", 10.0, 20.0), ("2", 20.0, 30.0), ("3", 30.0, None)]
    assert [fact.superseded_by for fact in believed(claims)] == [3, 2, None]


def test_a_correction_takes_an_intervals_place_and_the_old_belief_can_still_be_asked_for() -> None:
    claims = _claims(_said("1", 10.0), _said("2", 20.0), _said("two", 30.0, valid_from=20.0))
    assert _told(believed(claims)) == [("1", 10.0, 20.0), ("two", 20.0, None)]
    assert _told(believed(claims, known_at=25.0)) == [("1", 10.0, 20.0), ("2", 20.0, None)]
    assert _told(believed(claims, known_at=15.0)) == [("1", 10.0, None)]
    assert believed(claims, known_at=9.0) == []


_INSTANTS = st.integers(0, 12).map(float)
_SAID = st.lists(st.tuples(st.sampled_from("abc"), _INSTANTS, st.none() | _INSTANTS), max_size=12)


@given(_SAID)
def test_beliefs_are_whole_at_every_instant_and_no_later_claim_changes_an_earlier_belief(
    said: list[tuple[str, float, float | None]],
) -> None:
    claims = _claims(*(_said(value, at, None if begins is None else min(begins, at)) for value, at, begins in said))
    assert [claim.version for claim in claims] == list(range(1, len(claims) + 1))
    assert [claim.recorded_at for claim in claims] == sorted(claim.recorded_at for claim in claims)
    for known_at in (None, *(claim.recorded_at for claim in claims)):
        chain = believed(claims, known_at)
        assert all(one.valid_to == other.valid_from for one, other in pairwise(chain))
        assert [fact.valid_to is None for fact in chain] == [False] * (len(chain) - 1) + [True] * bool(chain)
        for instant in range(14):
            holding = [fact for fact in chain if fact.holds(float(instant))]
            assert len(holding) == (bool(chain) and chain[0].valid_from <= instant)
    for number in range(1, len(claims)):
        if claims[number - 1].recorded_at < claims[number].recorded_at:
            before = claims[number - 1].recorded_at
            assert _told(believed(claims, before)) == _told(believed(claims[:number]))


@given(_SAID, st.sampled_from("abc"), _INSTANTS)
def test_what_was_asserted_last_is_what_holds_at_its_instant(
    said: list[tuple[str, float, float | None]], value: str, begins: float
) -> None:
    before = [_said(each, at, None if since is None else min(since, at)) for each, at, since in said]
    chain = believed(_claims(*before, _said(value, 13.0, begins)))
    assert [fact.value for fact in chain if fact.holds(begins)] == [value]
