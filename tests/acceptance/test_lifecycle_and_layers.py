"""Lifecycle, facts, layers, keys and allowances: a right adapter is held, each wrong one violated by its own code."""

from __future__ import annotations

import asyncio

import pytest
from partywall.harness import Pack, RunPlan, RunResult, Status, verify

SCENARIOS = (
    "session_end",
    "session_archived",
    "session_full",
    "session_carried",
    "two_reports",
    "misplaced_note",
    "cache_purpose",
    "foreign_order_number",
    "borrowed_yes",
    "purge_tenant",
)


def run(target: str, *scenarios: str, seed: int = 1, size: int = 1) -> RunResult:
    plan = RunPlan(target=f"tests.acceptance.{target}", scenarios=scenarios, pack=Pack.STANDARD, seed=seed, size=size)
    result = asyncio.run(verify(plan))
    assert not result.problems
    assert not result.failures
    return result


def codes(result: RunResult) -> set[str]:
    return {f.code for j in result.judgements for v in j.verdicts for f in v.findings}


def undecided(result: RunResult) -> list[tuple[str, str, str]]:
    return [
        (j.trial.scenario, v.check, v.reason)
        for j in result.judgements
        for v in j.verdicts
        if v.status is Status.INCONCLUSIVE
    ]


def held(result: RunResult) -> set[str]:
    return {v.check for j in result.judgements for v in j.verdicts if v.status is Status.HELD}


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_right_adapter_is_held_and_nowhere_inconclusive(seed: int) -> None:
    result = run("almanac:Almanac", seed=seed)
    assert undecided(result) == []
    assert codes(result) == set()
    assert result.status is Status.HELD
    assert held(result) >= {
        "lifetime", "archive", "session_size", "carried", "supersession", "layers", "layer_writes", "cache_keys",
        "ledger", "erasure", "leak",
    }  # fmt: skip


def test_a_larger_trial_of_a_right_adapter_is_held() -> None:
    result = run("almanac:Almanac", *SCENARIOS, size=3)
    assert undecided(result) == []
    assert result.status is Status.HELD


@pytest.mark.parametrize(
    ("adapter", "scenario", "code"),
    [
        ("NeverEnds", "session_end", "PW301"),
        ("WritesRenew", "session_end", "PW302"),
        ("ReadsRenew", "session_end", "PW302"),
        ("RenewsUnseen", "session_end", "PW302"),
        ("IdleEnds", "session_end", "PW303"),
        ("IdleForgets", "session_end", "PW303"),
        ("ArchivesByFlag", "session_archived", "PW304"),
        ("ArchiveLeavesBytes", "session_archived", "PW304"),
        ("ArchiveForgetsAll", "session_archived", "PW305"),
        ("Unbounded", "session_full", "PW306"),
        ("DropsTheOldest", "session_full", "PW307"),
        ("MixesTasksInSummaries", "session_full", "PW104"),
        ("CarriesNothing", "session_carried", "PW308"),
        ("CarriesEverything", "session_carried", "PW103"),
        ("OverwritesFacts", "two_reports", "PW311"),
        ("IgnoresTheInstant", "two_reports", "PW311"),
        ("VersionsEveryWrite", "two_reports", "PW312"),
        ("ClosesLate", "two_reports", "PW313"),
        ("ClosedAtBothEnds", "two_reports", "PW313"),
        ("LeavesOpen", "two_reports", "PW314"),
        ("PointsNowhere", "two_reports", "PW314"),
        ("AsOfWithoutOwner", "two_reports", "PW101"),
        ("PromotesNotes", "misplaced_note", "PW321"),
        ("LearnsFromTurns", "misplaced_note", "PW321"),
        ("CountsVisits", "misplaced_note", "PW322"),
        ("KeepsDeletedFacts", "misplaced_note", "PW323"),
        ("RefusesDeletion", "misplaced_note", "PW323"),
        ("HidesTheUserLayer", "misplaced_note", "PW323"),
        ("NoPurpose", "cache_purpose", "PW804"),
        ("NoWords", "cache_purpose", "PW803"),
        ("NoLimit", "cache_purpose", "PW803"),
        ("BorrowsAnyYes", "borrowed_yes", "PW104"),
        ("AnswersByQuestion", "foreign_order_number", "PW101"),
        ("PurgesByPrefix", "purge_tenant", "PW402"),
        ("KeepsTheCache", "purge_tenant", "PW401"),
    ],
)
def test_each_wrong_adapter_is_violated_by_its_own_code(adapter: str, scenario: str, code: str) -> None:
    result = run(f"almanac_faults:{adapter}", scenario)
    assert result.status is Status.VIOLATED
    assert code in codes(result)


@pytest.mark.parametrize(
    ("adapter", "scenario", "allowed"),
    [
        ("NeverEnds", "session_end", {"PW301"}),
        ("RenewsUnseen", "session_end", {"PW301", "PW302"}),
        ("IdleEnds", "session_end", {"PW303"}),
        ("ArchivesByFlag", "session_archived", {"PW304"}),
        ("ArchiveForgetsAll", "session_archived", {"PW305"}),
        ("DropsTheOldest", "session_full", {"PW307"}),
        ("CarriesNothing", "session_carried", {"PW308"}),
        ("OverwritesFacts", "two_reports", {"PW311"}),
        ("VersionsEveryWrite", "two_reports", {"PW312"}),
        ("CountsVisits", "misplaced_note", {"PW322"}),
        ("KeepsDeletedFacts", "misplaced_note", {"PW323"}),
        ("NoPurpose", "cache_purpose", {"PW804"}),
        ("NoLimit", "cache_purpose", {"PW803"}),
        ("BorrowsAnyYes", "borrowed_yes", {"PW104"}),
    ],
)
def test_a_wrong_adapter_is_not_blamed_for_what_it_does_right(adapter: str, scenario: str, allowed: set[str]) -> None:
    assert codes(run(f"almanac_faults:{adapter}", scenario)) <= allowed


def test_a_poor_search_is_no_wrong_key() -> None:
    assert codes(run("almanac_faults:SearchesByOwnWords", "cache_purpose")) == set()


def test_a_target_that_tells_plain_values_is_not_covered_for_supersession() -> None:
    result = run("notebook:Notebook", "two_reports")
    verdicts = [v for j in result.judgements for v in j.verdicts if v.check == "supersession"]
    assert [verdict.status for verdict in verdicts] == [Status.NOT_COVERED]
    assert undecided(result) == []


def test_a_user_who_sends_too_much_is_refused_and_its_neighbours_are_not() -> None:
    result = run("turnstile:Turnstile", "tenant_rush")
    assert undecided(result) == []
    assert "allowance" in held(result)


@pytest.mark.parametrize("adapter", ["OneForAll", "ByTenantAlone"])
def test_an_allowance_without_its_owner_is_violated(adapter: str) -> None:
    assert codes(run(f"turnstile:{adapter}", "tenant_rush")) == {"PW901"}


def test_an_allowance_that_refuses_nobody_is_undecided() -> None:
    result = run("turnstile:LetsEverybodyIn", "tenant_rush")
    assert ("tenant_rush", "allowance") in [(scenario, check) for scenario, check, _ in undecided(result)]


def test_an_allowance_that_refuses_everybody_is_never_held() -> None:
    result = run("turnstile:LetsNobodyIn", "tenant_rush")
    assert "allowance" not in held(result)
