"""A right adapter is held; each wrong one is violated by its own code; a blind one is never held."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path

import pytest
from partywall.harness import History, Pack, RunPlan, RunResult, Status, verify


@pytest.fixture(scope="module", autouse=True)
def notebook_on_path() -> None:
    if "partywall_notebook" not in sys.modules:
        spec = importlib.util.spec_from_file_location("partywall_notebook", Path(__file__).parent / "notebook.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules["partywall_notebook"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def run(adapter: str, seed: int = 1, **options: object) -> RunResult:
    plan = RunPlan(target=f"partywall_notebook:{adapter}", pack=Pack.QUICK, seed=seed, **options)  # type: ignore[arg-type]
    return asyncio.run(verify(plan))


def codes(result: RunResult) -> set[str]:
    return {
        finding.code
        for judgement in result.judgements
        for verdict in judgement.verdicts
        for finding in verdict.findings
    }


def channels(result: RunResult, code: str) -> set[str]:
    return {
        finding.channel
        for judgement in result.judgements
        for verdict in judgement.verdicts
        for finding in verdict.findings
        if finding.code == code
    }


def planned(history: History) -> dict[str, object]:
    """What was sent, without the ids that the target chose: those depend on who came first."""
    return {
        probe: (call.op, call.scope, call.client, {**call.arguments, "memory_id": None})
        for probe, call in history.invocations.items()
    }


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_right_adapter_is_held_and_nowhere_inconclusive(seed: int) -> None:
    result = run("Notebook", seed)
    inconclusive = [
        (judgement.trial.scenario, verdict.check, verdict.reason)
        for judgement in result.judgements
        for verdict in judgement.verdicts
        if verdict.status is Status.INCONCLUSIVE
    ]
    assert not inconclusive
    assert result.status is Status.HELD
    assert codes(result) == set()


def test_a_right_adapter_is_looked_at_over_four_boundaries_and_eight_channels() -> None:
    cells = {
        (cell.boundary, cell.channel)
        for judgement in run("Notebook").judgements
        for verdict in judgement.verdicts
        for cell in verdict.cells
        if cell.status is Status.HELD and cell.control
    }
    assert {boundary for boundary, _ in cells} == {"tenant", "user", "session", "task"}
    for boundary in ("tenant", "user"):
        assert {channel for found, channel in cells if found == boundary} == {
            "reply", "turns", "context", "search", "list", "by-id", "facts", "artifacts", "cache",
        }  # fmt: skip
    assert len({channel for found, channel in cells if found == "session"}) >= 8
    assert len({channel for found, channel in cells if found == "task"}) >= 7


@pytest.mark.parametrize(
    ("adapter", "code", "channel"),
    [
        ("WithoutTenant", "PW101", "turns"),
        ("WithoutUser", "PW102", "turns"),
        ("WithoutSession", "PW103", "turns"),
        ("WithoutTaskFilter", "PW104", "context"),
        ("ListsWithoutFilter", "PW101", "list"),
        ("ListsWithoutFilter", "PW102", "list"),
        ("ByIdWithoutOwner", "PW101", "by-id"),
        ("ByIdWithoutOwner", "PW102", "by-id"),
        ("CachesByQuestion", "PW101", "cache"),
        ("CachesByQuestion", "PW102", "cache"),
        ("DebugsInBase64", "PW101", "reply"),
        ("OverwritesArtifacts", "PW106", "artifacts"),
        ("TakesSomebodysFact", "PW101", "facts"),
        ("TakesSomebodysFact", "PW102", "facts"),
        ("ShowsAllToTheEmptyHanded", "PW101", "list"),
        ("AnswersTheEmptyQuestion", "PW101", "search"),
        ("DeletesAnybodysMemory", "PW106", "list"),
        ("TitlesSessionsWithAnybodysTurns", "PW101", "ack"),
    ],
)
def test_each_wrong_adapter_is_violated_by_its_own_code(adapter: str, code: str, channel: str) -> None:
    result = run(adapter)
    assert result.status is Status.VIOLATED
    assert channel in channels(result, code)


@pytest.mark.parametrize(
    ("adapter", "allowed"),
    [
        ("WithoutTaskFilter", {"PW104"}),
        ("ByIdWithoutOwner", {"PW101", "PW102"}),
        ("OverwritesArtifacts", {"PW106"}),
    ],
)
def test_a_wrong_adapter_is_not_blamed_for_what_it_does_right(adapter: str, allowed: set[str]) -> None:
    assert codes(run(adapter)) == allowed


@pytest.mark.parametrize("adapter", ["DropsEveryWrite", "DeniesEveryRead", "DeniesStrangersOnly"])
def test_a_blind_target_is_never_held(adapter: str) -> None:
    result = run(adapter)
    assert result.status is Status.INCONCLUSIVE
    leaks = [
        v for j in result.judgements for v in j.verdicts if v.check == "leak" and j.trial.scenario == "cross_tenant"
    ]
    assert all(verdict.status is not Status.HELD for verdict in leaks)


def test_ids_joined_by_a_delimiter_that_an_id_may_hold_are_violated() -> None:
    result = run("JoinsIdsByDash", scenarios=("awkward_ids",))
    assert "PW101" in codes(result)


def test_a_write_that_is_never_acknowledged_leaves_isolation_undecided() -> None:
    result = run("StoresAndThenFails", scenarios=("cross_tenant",))
    assert result.status is Status.INCONCLUSIVE
    leaks = [verdict for j in result.judgements for verdict in j.verdicts if verdict.check == "leak"]
    assert [verdict.status for verdict in leaks] == [Status.INCONCLUSIVE]


def test_a_leak_that_stands_in_base64_is_named_by_its_dress() -> None:
    carriers = {
        cell.carrier
        for judgement in run("DebugsInBase64").judgements
        for verdict in judgement.verdicts
        for cell in verdict.cells
        if cell.status is Status.VIOLATED
    }
    assert any("base64" in carrier for carrier in carriers)


def test_the_same_seed_gives_the_same_schedule_and_the_same_verdicts() -> None:
    one, other = run("WithoutTenant", 7), run("WithoutTenant", 7)
    for mine, theirs in zip(one.histories, other.histories, strict=True):
        assert planned(mine) == planned(theirs)
    assert [
        (v.check, v.status, tuple(f.fingerprint for f in v.findings)) for j in one.judgements for v in j.verdicts
    ] == [(v.check, v.status, tuple(f.fingerprint for f in v.findings)) for j in other.judgements for v in j.verdicts]


def test_another_seed_plants_other_canaries() -> None:
    one, other = run("Notebook", 1), run("Notebook", 2)
    assert {s.canary.text for h in one.histories for s in h.sown}.isdisjoint(
        s.canary.text for h in other.histories for s in h.sown
    )
