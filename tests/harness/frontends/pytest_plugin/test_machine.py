"""The machine finds each wrong adapter by its own code and shrinks it to the shortest program; a right one holds."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from partywall.canaries import Scope, UsageError
from partywall.harness import ContractError, Refused
from partywall.harness.frontends.isolation_machine import isolation_machine
from partywall.harness.frontends.strategies import Step, awkward_ids, scopes, turn_programs

pytest_plugins = ["pytester"]

_SPEC = importlib.util.spec_from_file_location(
    "notebook_of_machine", Path(__file__).parents[3] / "acceptance/notebook.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
notebook = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(notebook)

_PHASES = (Phase.generate, Phase.shrink)


def put_through(machine: type[RuleBasedStateMachine], examples: int = 60, number: int = 1) -> str:
    """What the machine says of its target; empty where it holds."""
    how = settings(
        machine.TestCase.settings, max_examples=examples, database=None, phases=_PHASES, stateful_step_count=30
    )
    try:
        run_state_machine_as_test(seed(number)(machine), settings=how)
    except AssertionError as error:
        return str(error)
    return ""


def program(told: str) -> list[str]:
    return re.findall(r"^  \d+\. (.*)$", told, re.MULTILINE)


class TenantMissing:
    """Two operations, and a key without the tenant."""

    def __init__(self) -> None:
        self.turns: dict[object, list[str]] = {}

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None:
        self.turns.setdefault(call.scope.path[1:], []).append(text)

    def list_turns(self, call: Any, limit: int | None = None) -> list[str]:
        return self.turns.get(call.scope.path[1:], [])


class AsyncTenantMissing(TenantMissing):
    async def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None:  # type: ignore[override]
        super().append_turn(call, text)

    async def list_turns(self, call: Any, limit: int | None = None) -> list[str]:  # type: ignore[override]
        return super().list_turns(call)


@pytest.mark.parametrize("number", range(1, 4))
@pytest.mark.parametrize("adapter", [TenantMissing, AsyncTenantMissing])
def test_a_missing_tenant_shrinks_to_one_write_and_one_read(adapter: type, number: int) -> None:
    told = put_through(isolation_machine(adapter), number=number)
    assert re.match(r"PW101 (\S+) was shown (\S+)'s canary [0-9a-f]{6} in turns by list_turns: crossed TENANT", told)
    writer, reader = (step.split() for step in program(told))
    assert [writer[1], reader[1]] == ["append_turn()", "list_turns()"]
    assert {writer[0].partition("/")[0], reader[0].partition("/")[0]} == {"acme", "zeta"}
    assert writer[0].partition("/")[2] == reader[0].partition("/")[2]
    assert not re.search("mzqx7[0-9a-z]{24}", told)


def test_a_right_adapter_holds() -> None:
    assert put_through(isolation_machine(notebook.Notebook), examples=30) == ""


@pytest.mark.parametrize(
    ("adapter", "code", "steps"),
    [
        ("WithoutTenant", "PW101", 2),
        ("WithoutUser", "PW102", 2),
        ("WithoutSession", "PW103", 2),
        ("WithoutTaskFilter", "PW104", 2),
        ("ListsWithoutFilter", "PW10[12]", 2),
        ("ByIdWithoutOwner", "PW10[12]", 2),
        ("CachesByQuestion", "PW10[1-4]", 3),
    ],
)
def test_each_wrong_adapter_is_found_by_its_code(adapter: str, code: str, steps: int) -> None:
    told = put_through(isolation_machine(getattr(notebook, adapter)))
    assert re.match(code, told)
    assert len(program(told)) == steps


@pytest.mark.parametrize("adapter", ["DropsEveryWrite", "DeniesStrangersOnly", "OverwritesArtifacts"])
def test_an_adapter_that_hides_the_owners_own_does_not_hold(adapter: str) -> None:
    told = put_through(isolation_machine(getattr(notebook, adapter)))
    assert re.match("inconclusive: .* is not shown its own canary .*: it was dropped, or another took its place", told)
    assert put_through(isolation_machine(getattr(notebook, adapter), controls=False), examples=10) == ""


def test_a_write_that_is_refused_to_its_owner_does_not_hold() -> None:
    class Refuses(TenantMissing):
        def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None:
            raise Refused("quota", "limited")

    told = put_through(isolation_machine(Refuses), examples=5)
    assert re.match("inconclusive: .* could not write its own by append_turn: quota", told)


def test_dimensions_reach_and_sharing_are_as_the_adapter_declares_them() -> None:
    class ByUser(TenantMissing):
        dimensions = ("tenant", "user")
        intended_sharing = (("acme", "zeta"),)

        def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None:
            self.turns.setdefault(call.scope.user, []).append(text)

        def list_turns(self, call: Any, limit: int | None = None) -> list[str]:
            return self.turns.get(call.scope.user, [])

    class ByTenant(ByUser):
        reach = {"append_turn": {"turns": "tenant"}}  # noqa: RUF012

        def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None:
            self.turns.setdefault("all", []).append(text)

        def list_turns(self, call: Any, limit: int | None = None) -> list[str]:
            return self.turns.get("all", [])

    assert put_through(isolation_machine(ByUser), examples=20) == ""
    assert put_through(isolation_machine(ByTenant), examples=20) == ""


def test_a_target_is_closed_after_every_program() -> None:
    opened: list[Any] = []

    class Closes(notebook.Notebook):  # type: ignore[misc, name-defined]
        closed = 0

        def __init__(self) -> None:
            super().__init__()
            opened.append(self)

        async def aclose(self) -> None:
            self.closed += 1

    assert put_through(isolation_machine(Closes), examples=3) == ""
    assert {made.closed for made in opened} == {1}


def test_what_is_no_factory_or_no_adapter_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a class or function that makes an adapter, got a TenantMissing"):
        isolation_machine(TenantMissing())  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="needs one write and one observation"):
        put_through(isolation_machine(dict))


def test_pytest_collects_its_test_case_and_tells_the_program(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mine=(Path(__file__).parents[3] / "acceptance/notebook.py").read_text("utf-8"))
    pytester.makepyfile(
        """
        import mine
        from hypothesis import settings
        from partywall.harness.frontends.isolation_machine import isolation_machine

        TestIsolation = isolation_machine(mine.WithoutTenant).TestCase
        TestIsolation.settings = settings(TestIsolation.settings, max_examples=40, database=None, derandomize=True)
        """
    )
    pytester.syspathinsert()
    result = pytester.runpytest_inprocess("-p", "no:locust")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*PW101 * crossed TENANT", "E*after", "E* 1. *", "E* 2. *", "E*state = *", "E*state.*"]
    )


@given(scopes(), scopes(awkward_ids()), awkward_ids(), turn_programs())
@settings(max_examples=50, database=None, suppress_health_check=list(HealthCheck), deadline=None)
def test_strategies_give_what_they_say(near: Scope, far: Scope, name: str, steps: list[Step]) -> None:
    assert near.tenant in ("acme", "zeta")
    assert all(far.path)
    assert name.encode()
    assert steps[0].op == "append_turn"
    assert 2 <= len(steps) <= 12
    assert {step.op for step in steps} <= {"append_turn", "list_turns", "context"}


def test_scopes_shrink_to_the_first_and_programs_to_two_steps() -> None:
    assert find(scopes(), lambda scope: True) == Scope("acme", "ann", "s1", "k1")
    assert find(scopes(), lambda scope: scope.tenant == "zeta") == Scope("zeta", "ann", "s1", "k1")
    assert len(find(turn_programs(), lambda steps: True)) == 2
