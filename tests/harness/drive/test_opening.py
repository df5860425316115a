"""Opening an adapter: what is wrong with it is told at once, in one sentence each, before anything is sent."""

from __future__ import annotations

import asyncio
import sys
import types
from typing import Any

import pytest
from partywall.canaries import Level
from partywall.harness.drive.resolve import kind_of
from partywall.harness.drive.target import TargetSettings
from partywall.harness.drive.targets.function import capabilities_of
from partywall.harness.errors import ContractError, TargetError, UsageError
from partywall.harness.observe.history import Header, History
from partywall.harness.observe.journal import dump
from partywall.harness.plan import Trial


class Right:
    """One write and one observation, as the contract has them."""

    def append_turn(self, call: Any, text: str, role: str = "user", expected_version: Any = None) -> None: ...

    def list_turns(self, call: Any, limit: int | None = None) -> list[str]:
        return []


def with_attributes(**attributes: Any) -> Any:
    return type("Adapter", (Right,), attributes)()


def opened(monkeypatch: pytest.MonkeyPatch, spec: str = "partywall_opened:make", **attributes: Any) -> Any:
    """The target that opens from a module holding these attributes."""
    module = types.ModuleType("partywall_opened")
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, "partywall_opened", module)
    return asyncio.run(_open(spec))


async def _open(spec: str) -> Any:
    return await kind_of(spec).open(spec, TargetSettings())


def test_a_right_adapter_opens_with_what_it_has() -> None:
    found = capabilities_of(Right(), "test")
    assert found.operations == {"append_turn", "list_turns"}
    assert found.dimensions == frozenset(Level)
    assert (found.authenticates, found.fresh, found.disposable) == (False, True, True)


class Wrong:
    """Wrong in everything."""

    dimensions = ("tenant", "team")
    reach = {"list_turns": "user", "append_turn": {"prompts": "user", "turns": "galaxy"}}  # noqa: RUF012

    def append_turn(self, text: str) -> None: ...

    def list_turns(self) -> list[str]:
        return []

    def search_memory(self, call: Any) -> list[str]:
        return []


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ContractError) as refused:
        capabilities_of(Wrong(), "test")
    told = refused.value.problems
    for expected in ("append_turn takes", "list_turns takes", "search_memory takes", "'team'", "'prompts'", "'galaxy'"):
        assert any(expected in problem for problem in told)
    assert any("reach names 'list_turns'" in problem for problem in told)
    assert all("\n" not in problem for problem in told)


@pytest.mark.parametrize(
    ("operation", "method", "expected"),
    [
        ("append_turn", lambda self: None, "expected (call, text, role='user', expected_version=None)"),
        ("append_turn", lambda self, call, text, role, version, more: None, "expected (call, text"),
        ("list_turns", lambda self, call: [], "expected (call, limit=None)"),
        ("context", lambda self, call, question="": "", "expected (call, query='')"),
        ("get_memory", lambda self, call, *, memory_id: "", "expected (call, memory_id)"),
    ],
    ids=["no arguments", "too many", "optional missing", "optional renamed", "by name only"],
)
def test_a_wrong_signature_is_refused_with_the_right_one(operation: str, method: Any, expected: str) -> None:
    with pytest.raises(ContractError) as refused:
        capabilities_of(with_attributes(**{operation: method}), "test")
    assert f"{operation} takes" in str(refused.value)
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    "method",
    [
        lambda self, call, text, role="user", expected_version=None: None,
        lambda self, call, words, **options: None,
        lambda self, *positional, **named: None,
        lambda self, a, b, role="assistant", expected_version=0, extra=1: None,
    ],
)
def test_a_required_argument_may_bear_any_name(method: Any) -> None:
    assert "append_turn" in capabilities_of(with_attributes(append_turn=method), "test").operations


NO_ADAPTERS: dict[str, Any] = {
    "nothing": None,
    "a number": 7,
    "a module": types,
    "a write only": type("Writes", (), {"append_turn": Right.append_turn})(),
    "an observation only": type("Reads", (), {"list_turns": Right.list_turns})(),
    "names that are no methods": type("Named", (), {"append_turn": 1, "list_turns": "x"})(),
}


@pytest.mark.parametrize("adapter", NO_ADAPTERS.values(), ids=list(NO_ADAPTERS))
def test_an_object_without_operations_is_told_what_it_needs(adapter: Any) -> None:
    with pytest.raises(ContractError, match="needs one write and one observation of contract v1; found"):
        capabilities_of(adapter, "test")


BAD_DECLARATIONS: dict[str, tuple[str, Any, str]] = {
    "dimensions that are a number": ("dimensions", 7, "dimensions"),
    "dimensions of numbers": ("dimensions", [1, [2]], "dimension"),
    "no dimension": ("dimensions", (), "dimension"),
    "reach that is a word": ("reach", "user", "reach"),
    "reach of a number": ("reach", {"append_turn": 7}, "reach"),
    "reach of lists": ("reach", {"append_turn": {"turns": ["user"]}}, "reach"),
    "reach of nobody": ("reach", {7: "user"}, "reach"),
    "promises that are a word": ("promises", "linearizable", "promises"),
    "promises that are no data": ("promises", {"order": object()}, "promises"),
    "sharing that is a word": ("intended_sharing", "acme", "intended_sharing"),
    "sharing of three": ("intended_sharing", [("a", "b", "c")], "intended_sharing"),
    "sharing that is a number": ("intended_sharing", 7, "intended_sharing"),
}


@pytest.mark.parametrize(("name", "value", "told"), BAD_DECLARATIONS.values(), ids=list(BAD_DECLARATIONS))
def test_a_declaration_of_a_wrong_form_is_a_broken_contract(name: str, value: Any, told: str) -> None:
    with pytest.raises(ContractError) as refused:
        capabilities_of(with_attributes(**{name: value}), "test")
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_property_that_raises_is_a_broken_contract() -> None:
    def broken(self: Any) -> Any:
        raise RuntimeError("not now")

    with pytest.raises(ContractError, match="not now"):
        capabilities_of(with_attributes(search_memory=property(broken)), "test")


def test_what_is_declared_can_be_written_to_a_history() -> None:
    found = capabilities_of(
        with_attributes(
            dimensions=["tenant", "user"],
            reach={"append_turn": "user", "add_memory": {"list": "tenant"}},
            promises={"order": "index", "cas": True, "levels": ("a", "b")},
            intended_sharing={("acme", "zeta")},
        ),
        "test",
    )
    assert found.reach == {"append_turn": {"*": Level.USER}, "add_memory": {"list": Level.TENANT}}
    assert found.dimensions == {Level.TENANT, Level.USER}
    assert len(list(dump([History(Header(Trial("a", "b"), found, (), "mzqx7"), ())]))) == 1


async def _async_factory() -> Right:
    return Right()


@pytest.mark.parametrize("make", [Right, lambda: Right(), _async_factory], ids=["class", "function", "coroutine"])
def test_a_factory_makes_a_fresh_world(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert opened(monkeypatch, make=make).capabilities.fresh


def test_an_object_that_stood_there_already_is_not_taken_for_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not opened(monkeypatch, make=Right()).capabilities.fresh


def test_a_factory_may_stand_inside_of_something(monkeypatch: pytest.MonkeyPatch) -> None:
    target = opened(monkeypatch, "partywall_opened:box.make", box=types.SimpleNamespace(make=Right))
    assert target.capabilities.operations == {"append_turn", "list_turns"}


@pytest.mark.parametrize("error", [ValueError("no disk"), SystemExit(0), OSError(), ExceptionGroup("x", [OSError()])])
@pytest.mark.parametrize("kind", ["function", "coroutine"])
def test_a_factory_that_raises_is_a_target_that_did_not_open(
    error: BaseException, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> Any:
        raise error

    async def make_later() -> Any:
        raise error

    with pytest.raises(TargetError, match=f"did not open: {type(error).__name__}"):
        opened(monkeypatch, make=make if kind == "function" else make_later)


def test_a_factory_that_says_what_is_wrong_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Any:
        raise UsageError("set THE_URL first")

    with pytest.raises(UsageError, match="set THE_URL first"):
        opened(monkeypatch, make=make)


@pytest.mark.parametrize("spec", ["partywall_opened:nothing", "partywall_opened:make.more", "partywall_opened:"])
def test_a_missing_attribute_is_told_with_what_there_is(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="has no"):
        opened(monkeypatch, spec, make=Right)


@pytest.mark.parametrize("source", ["import nowhere_at_all", "1/0", "raise SystemExit(0)", "def (", "\x00"])
def test_a_module_that_does_not_import_is_the_callers_mistake(
    source: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "partywall_broken.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(UsageError, match="cannot import 'partywall_broken'") as refused:
        asyncio.run(_open("partywall_broken:make"))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("spec", ["", "nowhere", "reference-but-not-quite", "a b:c", "../x:y", "1a:b", "no such thing"])
def test_an_unknown_target_is_told_with_the_known_ones(spec: str) -> None:
    with pytest.raises(UsageError, match=r"known: .*package\.module:factory"):
        kind_of(spec)


@pytest.mark.parametrize("variant", ["bar", "bare:x", "Bare"])
def test_an_unknown_variant_of_a_library_is_refused(variant: str) -> None:
    with pytest.raises(UsageError, match="known: openai-agents, openai-agents:bare"):
        asyncio.run(_open(f"openai-agents:{variant}"))
