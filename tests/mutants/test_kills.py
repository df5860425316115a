"""The reference is held and nowhere inconclusive; every mutant is violated with its own code, for its own reason."""

from __future__ import annotations

import asyncio

import pytest
from partywall.harness import Pack, RunPlan, RunResult, Status, verify
from partywall.reference_impl.mutants import Mutant, list_mutants

SHOWN_BY = {
    "M01": "cross_tenant",
    "M03": "cross_tenant",
    "M04": "cross_user",
    "M05": "cross_task",
    "M06": "awkward_ids",
    "M12": "cross_tenant",
    "M20": "cross_tenant",
    "M23": "cross_tenant",
    "M24": "cross_tenant",
    "M28": "claimed_identity",
    "M29": "cross_user",
    "M30": "append_stress",
    "M34a": "commit_conflict",
    "M34b": "commit_conflict",
    "M36a": "session_end",
    "M36b": "session_end",
    "M36c": "session_end",
    "M37-cache": "purge_tenant",
    "M37-index": "purge_tenant",
    "M37-late": "purge_in_flight",
    "M37-log": "purge_tenant",
    "M37-objects": "purge_tenant",
    "M37-page": "purge_tenant",
    "M38": "purge_tenant",
    "M43": "commit_conflict",
    "M45a": "append_stress",
    "M45b": "append_stress",
    "M47a": "two_reports",
    "M47b": "two_reports",
    "M48": "cross_task",
    "M49": "misplaced_note",
    "M50a": "session_full",
    "M50b": "session_full",
    "M53": "cache_purpose",
    "M54": "cache_purpose",
    "M58": "model_faults",
    "M59": "model_faults",
    "M60": "cross_tenant",
    "M61": "cross_session",
    "M62-artifact": "cross_tenant",
    "M62-cache": "cross_tenant",
    "M62-filter": "cross_tenant",
    "M62-lock": "keys_at_rest",
    "M62-log": "keys_at_rest",
    "M62-rate": "keys_at_rest",
    "M65": "stalled_model",
}
"""The scenario that is made for each: a whole pack a mutant would take an hour and prove no more."""
MUTANTS = [pytest.param(mutant, id=mutant.id) for mutant in list_mutants()]


def run(target: str, seed: int = 1, pack: Pack = Pack.STANDARD, scenarios: tuple[str, ...] = ()) -> RunResult:
    return asyncio.run(verify(RunPlan(target=target, seed=seed, pack=pack, scenarios=scenarios)))


def undecided(result: RunResult) -> list[tuple[str, str, str]]:
    return [
        (judgement.trial.scenario, verdict.check, verdict.reason)
        for judgement in result.judgements
        for verdict in judgement.verdicts
        if verdict.status is Status.INCONCLUSIVE
    ]


def codes(result: RunResult) -> set[str]:
    return {f.code for j in result.judgements for v in j.verdicts for f in v.findings}


def assert_killed(result: RunResult, mutant: Mutant) -> None:
    """A crash, a time-out or another code is not a kill."""
    assert not result.failures
    assert not result.problems
    assert result.status is Status.VIOLATED
    assert codes(result) & mutant.caught_by, f"{mutant.id} showed {codes(result)}, declared {set(mutant.caught_by)}"


def test_the_reference_is_held_and_nowhere_inconclusive() -> None:
    result = run("reference", pack=Pack.QUICK)
    assert undecided(result) == []
    assert result.status is Status.HELD
    channels = {cell.channel for j in result.judgements for v in j.verdicts for cell in v.cells if cell.control}
    assert channels >= {"prompt", "reply", "turns", "context", "search", "list", "by-id", "facts", "artifacts", "cache"}


def test_an_answer_cache_without_its_principal_is_killed_by_the_scenario_it_is_made_for() -> None:
    mutant = next(mutant for mutant in list_mutants() if mutant.id == "M12")
    result = run("reference:mutant=M12", scenarios=("cross_tenant",))
    assert_killed(result, mutant)
    assert {f.channel for j in result.judgements for v in j.verdicts for f in v.findings} == {"cache"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_the_reference_is_held_on_other_seeds(seed: int) -> None:
    result = run("reference", seed)
    assert undecided(result) == []
    assert result.status is Status.HELD


def test_every_mutant_is_shown_by_some_scenario() -> None:
    assert set(SHOWN_BY) == {mutant.id for mutant in list_mutants()}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_every_mutant_is_killed_by_its_own_code(mutant: Mutant) -> None:
    assert_killed(run(f"reference:mutant={mutant.id}", scenarios=(SHOWN_BY[mutant.id],)), mutant)
