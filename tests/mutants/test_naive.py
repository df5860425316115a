"""The naive agent shows all ten differences between a demo and production; the reference shows none."""

from __future__ import annotations

import asyncio

import pytest
from partywall.harness import Pack, RunPlan, Status, verify
from partywall.harness.judge.differences import TEN, differences

SHOWING = (
    "append_stress",
    "commit_conflict",
    "cross_task",
    "cross_tenant",
    "keys_at_rest",
    "misplaced_note",
    "session_end",
    "two_reports",
)


def _shown(target: str) -> dict[int, Status]:
    result = asyncio.run(verify(RunPlan(target=target, seed=1, pack=Pack.STANDARD, scenarios=SHOWING)))
    assert not result.failures
    return {told.difference.number: told.status for told in differences(result.judgements)}


@pytest.mark.slow
def test_the_naive_agent_shows_all_ten() -> None:
    assert _shown("reference:naive") == dict.fromkeys(range(1, 11), Status.VIOLATED)


@pytest.mark.slow
def test_the_reference_holds_all_ten() -> None:
    assert _shown("reference") == dict.fromkeys(range(1, 11), Status.HELD)


def test_scope_cache_key_and_layers_cannot_be_put_right_later() -> None:
    assert [each.number for each in TEN if each.structural] == [1, 2, 3]
