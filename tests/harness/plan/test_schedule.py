"""A schedule is fitted to what a target can do: what it cannot be asked is left out, and what waits for it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from partywall.canaries import Keyring, Level, Scope
from partywall.harness.plan import (
    OPERATIONS,
    Capabilities,
    Identity,
    Phase,
    Planting,
    Probe,
    Schedule,
    Script,
    lacking,
    reach_of,
)

EVERYTHING = Capabilities(frozenset(OPERATIONS), authenticates=True)


def script() -> Script:
    keyring = Keyring.derive(b"schedule tests are minted under this key", "test")
    return Script(Planting(keyring), random.Random(1))


def ids(schedule: Schedule) -> set[str]:
    return {probe.call.op for probe in schedule.probes}


def test_what_the_target_lacks_is_left_out_with_what_waits_for_it() -> None:
    words = script()
    owner, other = words.pair(Level.TENANT)
    words.phase(words.plant("add_memory", owner), words.plant("append_turn", other))
    words.phase(words.by_id(owner, other))
    assert ids(words.schedule().fitted(EVERYTHING)) == {"add_memory", "append_turn", "get_memory"}
    without = replace(EVERYTHING, operations=frozenset({"append_turn", "get_memory"}))
    assert ids(words.schedule().fitted(without)) == {"append_turn"}


def test_where_nobody_is_proved_a_caller_is_whoever_is_addressed() -> None:
    words = script()
    owner, other = words.pair(Level.USER)
    words.phase(words.probe("list_turns", owner), words.probe("list_turns", owner, caller=Identity.of(other)))
    assert len(words.schedule().fitted(EVERYTHING).probes) == 2
    assert len(words.schedule().fitted(replace(EVERYTHING, authenticates=False)).probes) == 1


def test_the_declared_reach_goes_before_the_contracts() -> None:
    words = script()
    owner, _ = words.pair(Level.TASK)
    words.phase(words.plant("append_turn", owner))
    declared = replace(EVERYTHING, reach={"append_turn": {"reply": Level.SESSION}})
    (probe,) = words.schedule().fitted(declared).probes
    assert probe.sows[0].reach == {**reach_of("append_turn"), "reply": Level.SESSION}


def test_a_phase_has_one_line_a_client_in_the_order_of_its_probes() -> None:
    words = script()
    one, other = words.pair(Level.USER)
    probes = [words.probe("list_turns", scope) for scope in (one, other, one)]
    phase = Phase.of(probes)
    assert [[probe.id for probe in line.probes] for line in phase.lines] == [["p1", "p3"], ["p2"]]


@pytest.mark.parametrize("level", list(Level))
def test_a_pair_parts_at_its_level_and_nowhere_else(level: Level) -> None:
    one, other = script().pair(level)
    assert [mine == theirs for mine, theirs in zip(one.path, other.path, strict=True)].count(False) == 1
    assert one.boundary(other) is level


def test_the_same_plan_gives_other_canaries_under_a_nonce_and_the_same_wording() -> None:
    keyring = Keyring.derive(b"schedule tests are minted under this key", "test")
    texts = []
    for nonce in ("", "5eed"):
        words = Script(Planting(keyring, nonce), random.Random(1))
        probe: Probe = words.plant("append_turn", words.mint.scope("acme", "ann", "s1", "k1"))
        texts.append(str(probe.call.arguments["text"]).replace(probe.sows[0].text, "…"))
        assert nonce in str(probe.call.scope.tenant)
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("needs", "missing"),
    [
        ([], ()), (["a"], ()), (["a | c"], ()), (["c | a"], ()), (["c"], ("c",)), (["c | d", "a"], ("c | d",)),
        (["d", "c"], ("c", "d")),
    ],
)  # fmt: skip
def test_a_need_is_an_operation_or_alternatives(needs: list[str], missing: tuple[str, ...]) -> None:
    assert lacking(needs, ["a", "b"]) == missing


def test_a_turn_reaches_its_session_on_the_listing_and_its_task_elsewhere() -> None:
    turn = script().mint.canary(Scope("acme", "ann", "s1", "k1"), "append_turn")
    beside = Scope("acme", "ann", "s1", "k2")
    assert turn.visible_to(beside, "turns")
    assert not turn.visible_to(beside, "prompt")
    assert not turn.visible_to(Scope("acme", "ann", "s2", "k1"), "turns")
