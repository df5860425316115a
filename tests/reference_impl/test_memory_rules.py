"""The memory core as pure rules: layers, lifecycle, supersession, and what it may import."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import partywall.reference_impl
import pytest
from partywall.canaries import Level, Scope, ScopeError
from partywall.reference_impl.facts import Assertion, Fact, supersede
from partywall.reference_impl.layers import Holding, Layer, place, visible
from partywall.reference_impl.lifecycle import Life, Limits, State

HOME = Path(partywall.reference_impl.__file__).parent
CORE = {
    *("append", "clock", "facts", "keys", "knowledge", "layers", "lifecycle", "locks", "marks", "refusals"),
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


@pytest.mark.parametrize(
    ("entry", "answers", "layer"),
    [
        ("use a table this time", (True, False, False), Layer.SESSION),
        ("region by order address", (False, False, False), Layer.TASK),
        ("report template", (True, True, True), Layer.USER),
        ("current step and spent budget", (False, False, False), Layer.TASK),
        ("last tool result", (False, False, False), Layer.TASK),
        ("time zone and language", (True, True, True), Layer.USER),
        ("a clarified rule", (False, True, True), Layer.TASK),
        ("the session's canary", (True, False, False), Layer.SESSION),
        ("what the user never agreed to keep", (True, True, False), None),
    ],
)
def test_the_first_no_decides_the_layer(entry: str, answers: tuple[bool, bool, bool], layer: Layer | None) -> None:
    assert place(Holding(*answers)) is layer


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


def _claim(value: str, at: float) -> Assertion:
    return Assertion("rule", value, Layer.TASK, at, 1)


def test_a_new_value_closes_the_old_and_points_to_the_new() -> None:
    first = supersede(None, _claim("1", 10.0)).opened
    assert first is not None
    change = supersede(first, _claim("2", 20.0))
    assert change.closed is not None
    assert change.opened is not None
    assert (change.closed.valid_to, change.closed.superseded_by) == (20.0, 2)
    assert [fact.value for fact in (change.closed, change.opened) if fact.holds(20.0)] == ["2"]
    assert [fact.value for fact in (change.closed, change.opened) if fact.holds(19.9)] == ["1"]
    assert first.valid_to is None


def test_the_same_value_makes_no_new_version() -> None:
    first = supersede(None, _claim("1", 10.0)).opened
    assert supersede(first, _claim("1", 20.0)).opened is None


@pytest.mark.parametrize("at", [10.0, 5.0])
def test_a_clock_that_stands_or_goes_back_leaves_no_overlap(at: float) -> None:
    first = supersede(None, _claim("1", 10.0)).opened
    change = supersede(first, _claim("2", at))
    assert isinstance(change.closed, Fact)
    assert isinstance(change.opened, Fact)
    assert first is not None
    assert change.closed.valid_to == change.opened.valid_from
    assert change.opened.valid_from > first.valid_from
