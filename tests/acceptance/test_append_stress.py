"""Under append stress a right adapter is held, and each wrong one is violated by its own PW2xx codes."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import sys
from pathlib import Path

import pytest
from partywall.harness import RunPlan, RunResult, Status, verify
from partywall.harness.judge.verdict import Verdict

SCENARIOS = ("append_stress", "commit_conflict")


@pytest.fixture(scope="module", autouse=True)
def logbook_on_path() -> None:
    spec = importlib.util.spec_from_file_location("partywall_logbook", Path(__file__).parent / "logbook.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["partywall_logbook"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def run(adapter: str, seed: int = 1) -> RunResult:
    return asyncio.run(verify(RunPlan(target=f"partywall_logbook:{adapter}", scenarios=SCENARIOS, seed=seed)))


def verdicts(result: RunResult) -> dict[str, Verdict]:
    return {
        judgement.trial.scenario: verdict
        for judgement in result.judgements
        for verdict in judgement.verdicts
        if verdict.check == "append_log"
    }


def codes(result: RunResult) -> set[str]:
    return {finding.code for verdict in verdicts(result).values() for finding in verdict.findings}


def share(verdict: Verdict) -> float:
    """The overlap that was achieved."""
    (control,) = (control for control in verdict.controls if "overlapped" in control.name)
    return float(control.detail.split()[0])


@pytest.mark.parametrize("adapter", ["Logbook", "WithoutNumbers", "OpaqueVersions", "Asynchronous", "PromisesNothing"])
def test_a_right_adapter_is_held(adapter: str) -> None:
    result = run(adapter)
    assert result.status is Status.HELD
    assert codes(result) == set()
    assert share(verdicts(result)["append_stress"]) > 0.5


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [
        ("WholeBlob", {"PW209", "PW210"}),
        ("WholeBlobWithoutNumbers", {"PW213"}),
        ("WithoutDedup", {"PW204"}),
        ("UnscopedDedup", {"PW213"}),
        ("StoresTheSecondBody", {"PW203"}),
        ("WithoutCas", {"PW211"}),
        ("LagsBehind", {"PW215"}),
        ("NumbersWithGaps", {"PW208"}),
        ("RefusesLate", {"PW203"}),
    ],
)
def test_each_wrong_adapter_is_violated_by_its_own_code(adapter: str, expected: set[str]) -> None:
    result = run(adapter)
    assert result.status is Status.VIOLATED
    assert expected <= codes(result)
    assert all(code.startswith("PW2") for code in codes(result))


@pytest.mark.parametrize(
    ("adapter", "allowed"),
    [
        ("WithoutDedup", {"PW203", "PW204", "PW208"}),
        ("StoresTheSecondBody", {"PW203", "PW204", "PW208"}),
        ("UnscopedDedup", {"PW213"}),
        ("WithoutCas", {"PW211"}),
        ("LagsBehind", {"PW213", "PW214", "PW215"}),
    ],
)
def test_a_wrong_adapter_is_not_blamed_for_what_it_does_right(adapter: str, allowed: set[str]) -> None:
    assert codes(run(adapter)) <= allowed


def test_a_claim_names_two_operations_and_the_time_between_them() -> None:
    told = re.compile(r"was acknowledged [\d.e+]+ (ns|µs|ms|s) before \S+ began to read; .* turns")
    assert any(told.search(finding.claim) for finding in verdicts(run("LagsBehind"))["append_stress"].findings)


def test_retries_are_not_judged_where_idempotence_is_not_promised() -> None:
    result = run("PromisesNothing")
    assert "idempotence is not promised" in verdicts(result)["append_stress"].reason
    assert [skipped.scenario for skipped in result.not_run] == ["commit_conflict"]
