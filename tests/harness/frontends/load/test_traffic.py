"""What simulated users do: ids that collide, wording that is alike, looks only where something is to be seen."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from partywall.canaries import Keyring, Level
from partywall.harness.frontends.load_traffic import BLOCK, MOST_MEMORIES, Step, Traffic, owner
from partywall.harness.plan import OPERATIONS, QUESTION, Capabilities, Planting, Probe

KEYRING = Keyring.derive(b"k" * 32, "test")
OFFERS = Capabilities(
    frozenset(
        {"create_session", "append_turn", "run_turn", "add_memory", "list_turns", "context"}
        | {"search_memory", "list_memories", "cached_answer"}
    ),
    promises={"idempotent": True},
)


def traffic(number: int = 0, capabilities: Capabilities = OFFERS, seed: int = 1) -> Traffic:
    return Traffic(Planting(KEYRING), number, capabilities, random.Random(f"{seed}/{number}"))


def walked(made: Traffic, steps: int, answered: bool = True) -> list[Step]:
    """The first steps of a user, each of them acknowledged or none."""
    found = []
    for _ in range(steps):
        step = made.next()
        if answered:
            made.acknowledged(step.probe)
        found.append(step)
    return found


def probes(steps: list[Step]) -> list[Probe]:
    return [probe for step in steps for probe in (step.probe, step.twice, step.again) if probe is not None]


def test_neighbours_part_at_the_tenant_and_agree_in_everything_below() -> None:
    for number in range(0, 4 * BLOCK, 2):
        (one, *below), (other, *same) = owner(number), owner(number + 1)
        assert one != other
        assert below == same


def test_no_two_users_are_one_owner_at_one_device() -> None:
    assert len({owner(number) for number in range(10 * BLOCK)}) == 10 * BLOCK


def test_two_devices_of_one_person_share_no_session() -> None:
    sessions = []
    for number in (0, 4):
        assert owner(number)[:2] == ("acme", "ann")
        sessions.append({step.probe.call.scope.path[2] for step in walked(traffic(number), 200)})
    assert not sessions[0] & sessions[1]


def test_the_same_seed_gives_the_same_steps_and_another_one_others() -> None:
    assert walked(traffic(), 60) == walked(traffic(), 60)
    assert walked(traffic(), 60) != walked(traffic(seed=2), 60)


def test_nobody_looks_before_content_of_its_own_was_acknowledged() -> None:
    unanswered = {step.probe.call.op for step in walked(traffic(), 100, answered=False)}
    assert unanswered == {"create_session", "append_turn", "run_turn", "add_memory"}
    spoke: set[object] = set()
    for step in walked(traffic(), 300):
        call = step.probe.call
        if step.probe.sows:
            spoke.add(call.scope.path if call.op != "add_memory" else "memory")
        elif call.op in ("list_turns", "context", "cached_answer", "run_turn"):
            assert call.scope.path in spoke
        elif call.op in ("search_memory", "list_memories"):
            assert "memory" in spoke


def test_questions_are_worded_alike_in_all_tenants() -> None:
    asked = {
        (probe.call.op, *probe.call.arguments.values())
        for number in range(BLOCK)
        for probe in probes(walked(traffic(number), 120))
        if not probe.sows and probe.call.op in ("cached_answer", "context")
    }
    assert asked == {("cached_answer", QUESTION), ("context", QUESTION)}


def test_no_probe_id_and_no_canary_comes_twice_whoever_sends_it() -> None:
    sent = [probe for number in range(2 * BLOCK) for probe in probes(walked(traffic(number), 150))]
    tokens = [canary.text for probe in sent for canary in probe.sows]
    assert len({probe.id for probe in sent}) == len(sent)
    assert len(set(tokens)) == len(tokens)


def test_a_double_click_and_a_repeat_are_the_same_request_and_plant_nothing_new() -> None:
    steps = [step for number in range(BLOCK) for step in walked(traffic(number), 200)]
    twice = [(step.probe, step.twice) for step in steps if step.twice]
    again = [(step.probe, step.again) for step in steps if step.again]
    assert twice
    assert again
    for first, second in twice + again:
        assert first.call == second.call
        assert first.call.request_id
        assert not second.sows
        assert first.id != second.id
    assert all(first.client != second.client for first, second in twice)  # they overlap, so they are two clients
    assert all(first.client == second.client for first, second in again)


def test_nothing_is_sent_twice_where_no_idempotence_is_promised() -> None:
    steps = walked(traffic(capabilities=replace(OFFERS, promises={})), 300)
    assert not [step for step in steps if step.twice or step.again or step.probe.call.request_id]


def test_memories_of_one_user_stay_few() -> None:
    planted = [step for step in walked(traffic(), 600) if step.probe.call.op == "add_memory"]
    assert len(planted) == MOST_MEMORIES


@pytest.mark.parametrize("offered", [{"add_memory", "list_memories"}, {"append_turn", "list_turns"}, {"run_turn"}])
def test_only_what_the_target_offers_is_sent(offered: set[str]) -> None:
    made = traffic(capabilities=Capabilities(frozenset(offered)))
    steps = [made.next() for _ in itertools.repeat(None, 6)]
    assert {step.probe.call.op for step in steps} <= offered


def test_a_declared_reach_widens_the_canaries() -> None:
    wide = replace(OFFERS, reach={"append_turn": {"context": Level.USER}})
    reaches = {
        step.probe.sows[0].reach.get("context")
        for step in walked(traffic(capabilities=wide), 60)
        if step.probe.call.op == "append_turn"
    }
    assert reaches == {Level.USER}


def test_a_session_is_looked_at_once_more_at_the_end() -> None:
    made = traffic()
    assert made.closing() == []
    spoken = next(step for step in walked(made, 9) if step.probe.call.op == "append_turn")
    (last,) = made.closing()
    assert last.probe.call.op == "list_turns"
    assert last.probe.call.scope.path[:3] == spoken.probe.call.scope.path[:3]


def test_every_write_plants_where_the_contract_says() -> None:
    for step in walked(traffic(), 80):
        for canary in step.probe.sows:
            assert canary.text in step.probe.call.arguments[OPERATIONS[step.probe.call.op].plants]
