"""The reference outlives each of the seven faults of its model; the mutants that do not are told by their own codes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from partywall.harness import RunPlan, RunResult, Status, verify
from partywall.reference_impl.mutants import list_mutants

SEVEN = ("normal", "invalid-json", "exception", "timeout", "fictitious-tool", "sensitive-echo", "ambiguous")
JUDGED = {"delivery", "no_effect", "no_bleed", "bounded", "typed_failure"}


def run(target: str, fault: str, scenarios: tuple[str, ...] = ()) -> RunResult:
    return asyncio.run(verify(RunPlan(target=target, fault=fault, seed=1, scenarios=scenarios)))


def held(result: RunResult) -> set[str]:
    return {v.check for j in result.judgements for v in j.verdicts if v.status is Status.HELD}


def undecided(result: RunResult) -> list[tuple[str, str]]:
    return [(v.check, v.reason) for j in result.judgements for v in j.verdicts if v.status is Status.INCONCLUSIVE]


def assert_outlived(result: RunResult, fault: str) -> None:
    """`normal` strikes nothing, so there is nothing for the others to judge: that it was delivered is all."""
    assert undecided(result) == []
    assert result.status is Status.HELD
    assert held(result) >= ({"delivery"} if fault == "normal" else JUDGED)
    stalled = {"stalled_model"} if fault == "timeout" else set()
    assert {judgement.trial.scenario for judgement in result.judgements} == {"model_faults"} | stalled


def test_the_reference_is_held_under_broken_json() -> None:
    assert_outlived(run("reference", "invalid-json"), "invalid-json")


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fault for fault in SEVEN if fault != "invalid-json"])
def test_the_reference_is_held_under_every_fault(fault: str) -> None:
    assert_outlived(run("reference", fault), fault)


@pytest.mark.slow
def test_without_a_fault_named_the_scenario_goes_through_all_seven() -> None:
    result = run("reference", "steady", ("model_faults",))
    assert [judgement.trial.fault for judgement in result.judgements] == list(SEVEN)
    assert undecided(result) == []
    assert result.status is Status.HELD


@pytest.mark.parametrize("name", ["M58", "M59"])
def test_a_mutant_that_acts_on_broken_json_is_violated_by_its_own_codes(name: str) -> None:
    [mutant] = [mutant for mutant in list_mutants() if mutant.id == name]
    result = run(f"reference:mutant={name}", "invalid-json")
    assert result.failures == ()
    found = {finding.code for j in result.judgements for v in j.verdicts for finding in v.findings}
    assert found >= mutant.caught_by
    assert {code[:3] for code in found} == {"PW7"}


@pytest.mark.slow
def test_a_fault_turns_no_verdict_on_isolation_red() -> None:
    result = run("reference", "exception", ("cross_tenant",))
    assert result.status is Status.INCONCLUSIVE
    assert {"delivery", "bounded", "typed_failure"} <= held(result)
    assert any("reply" in reason for check, reason in undecided(result) if check == "control")


@pytest.mark.slow
def test_a_profile_that_strikes_the_first_attempt_alone_is_outlived_by_a_retry(tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text("version: 1\nprofiles:\n  once:\n    fault: exception\n    when: {attempt: 1}\n")
    result = run("reference", f"{path}:once")
    assert result.status is Status.HELD
    assert held(result) >= JUDGED - {"no_effect"}


@pytest.mark.slow
def test_a_profile_that_never_strikes_is_inconclusive(tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text("version: 1\nprofiles:\n  never:\n    fault: exception\n    when: {prob: 0}\n")
    result = run("reference", str(path))
    assert result.status is Status.INCONCLUSIVE
    assert [check for check, _ in undecided(result)] == ["delivery"]
