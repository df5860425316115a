"""A demonstration tells what it saw: held on a sound stand-in, red on the fault that it is there to show."""

from __future__ import annotations

import asyncio

import pytest
from partywall.canaries import redact_tokens
from partywall.harness.demos import Account, Stage, demo_named, demos, four_states, perform
from partywall.harness.drive.targets.function import kind_for
from partywall.harness.exits import Exit

from . import standins

NAMES = [demo.id for demo in demos()]
RED: list[tuple[str, str, str]] = [
    # demonstration, stand-in, the words of a claim that must fail
    ("key_collision", "QuestionOnly", "each scope is given its own order and no other"),
    ("key_collision", "QuestionOnly", "5 keys, 5 prefixes, 1 fingerprint"),
    ("two_tasks", "MixedTasks", "the context of refund holds its own 2 turns and none of the other's"),
    ("two_tasks", "QuestionOnly", "the answer to report holds its own 2 turns and none of the other's"),
    ("concurrent_appends", "LostUpdates", "8 turns, version 8, numbers 1..8, 0 errors"),
    ("stale_commit", "LastWriterWins", "nothing of it is stored"),
    ("stale_commit", "LastWriterWins", "the second commit is refused: it ended ok"),
    ("retried_request", "Forgetful", "turn 1 twice, 1 turn"),
    ("retried_request", "SharedRequests", "the same id from fern is a request of its own: turn 1 of its own session"),
    ("four_states", "EndlessRenewal", "and its end has not moved"),
    ("four_states", "FalselyArchived", "archived: 0 turns left"),
    ("changed_fact", "Overwritten", "nothing is overwritten: the old version is closed and points to the new one"),
    ("tenant_purge", "OverReaching", "the neighbour ivy-1 is kept whole"),
    ("tenant_purge", "Residue", "nothing of ivy is left in any of them"),
    ("tenant_purge", "Unconfirmed", "4 systems confirm"),
    ("canaries", "QuestionOnly", "foreign canaries seen on the agent as it stands: 1"),
]


@pytest.fixture(autouse=True)
def _short_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"idle_after": 0.1, "lifetime": 0.4, "archive_after": 0.1}.items():
        monkeypatch.setitem(four_states.LIMITS, name, seconds)
    monkeypatch.setattr(four_states, "POLL", 0.01)


def told(name: str, reference: str, faulty: str = "QuestionOnly") -> tuple[Account, list[str]]:
    lines: list[str] = []

    async def show() -> Account:
        async with Stage(reference, faulty, resolve=lambda spec: kind_for(getattr(standins, spec))) as stage:
            return await perform(demo_named(name), stage, lines.append)

    return asyncio.run(show()), lines


@pytest.mark.parametrize("name", NAMES)
def test_every_demonstration_is_held_on_a_sound_deployment(name: str) -> None:
    account, lines = told(name, "Sound")
    assert account.exit is Exit.HELD, lines
    assert lines[0] == f"{demo_named(name).number}. {demo_named(name).title}"
    assert account.claims


@pytest.mark.parametrize(("name", "standin", "words"), RED)
def test_a_demonstration_is_red_where_its_claim_does_not_hold(name: str, standin: str, words: str) -> None:
    account, lines = told(name, standin)
    failed = [claim.words for claim in account.claims if not claim.passed]
    assert words in failed
    assert account.exit is Exit.VIOLATED
    assert any(line.startswith(f"   ✘ {words}") for line in lines)


@pytest.mark.parametrize("name", ["key_collision", "canaries"])
def test_a_fault_that_does_not_show_is_red(name: str) -> None:
    account, _ = told(name, "Sound", faulty="Sound")
    assert account.exit is Exit.VIOLATED


def test_every_demonstration_has_been_seen_red() -> None:
    assert {name for name, _, _ in RED} == set(NAMES)


def test_an_archive_that_the_target_lacks_is_not_shown_and_no_pass() -> None:
    account, lines = told("four_states", "Unarchived")
    assert all(claim.passed for claim in account.claims)
    assert account.exit is Exit.INCONCLUSIVE
    assert lines[-1].startswith("   not shown: archived: 0 turns left")


@pytest.mark.parametrize("standin", ["Silent", "Denying"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "changed_fact"])
def test_a_target_that_answers_nothing_shows_nothing(name: str, standin: str) -> None:
    account, _ = told(name, standin)
    assert account.exit is not Exit.HELD


def test_no_line_holds_a_whole_canary() -> None:
    for name in ("tenant_purge", "canaries"):
        for standin in ("Sound", "Residue", "QuestionOnly", "OverReaching"):
            account, lines = told(name, standin)
            text = "\n".join([*lines, *(claim.words + claim.found for claim in account.claims)])
            assert text == redact_tokens(text)
