"""Every scenario, the next one too: its plan is the same for the same seed, quick, lawful, and collides on purpose."""

from __future__ import annotations

import time
from typing import Any

import pytest
from partywall.canaries import DEFAULT_PREFIX, Keyring, Scanner
from partywall.harness.plan import (
    OPERATIONS,
    Capabilities,
    Guarantee,
    Scenario,
    Schedule,
    Trial,
    ValueOf,
)
from partywall.harness.run import scenarios, schedules_of

EVERYTHING = Capabilities(
    frozenset(OPERATIONS),
    authenticates=True,
    disposable=True,
    watches=frozenset({"prompt", "headers"}),
    promises={
        "idempotent": True,
        "cas": True,
        "shared_store": True,
        "lifetime": 28_800,
        "idle_after": 900,
        "archive_after": 2_592_000,
        "max_turns": 40,
        "condense_at": 30,
        "rate_limit": {"user": 20, "tenant": 40},
    },
)
SEEDS = range(5)
SIZES = (1, 2, 3)
ALL = scenarios()
EVERY = pytest.mark.parametrize("scenario", ALL.values(), ids=list(ALL))


def planned(scenario: Scenario, seed: int, size: int, nonce: str = "") -> tuple[tuple[Schedule, ...], Keyring]:
    return schedules_of(scenario, Trial(scenario.id, "any", seed=seed, size=size), EVERYTHING, b"", nonce)


def told(schedule: Schedule) -> list[Any]:
    """All that is sent, phase by phase, with what it plants."""
    return [
        [
            (line.client, [(p.id, p.call, [canary.text for canary in p.sows], p.twin) for p in line.probes])
            for line in phase.lines
        ]
        for phase in schedule.phases
    ]


def every_world(scenario: Scenario) -> list[Schedule]:
    return [world for seed in SEEDS for size in SIZES for world in planned(scenario, seed, size)[0]]


def test_there_are_scenarios() -> None:
    assert ALL


@EVERY
def test_it_says_its_hazard_in_a_sentence_and_what_it_exercises(scenario: Scenario) -> None:
    assert scenario.hazard.strip().endswith(".")
    assert scenario.exercises
    assert scenario.exercises <= set(Guarantee)


@EVERY
def test_its_needs_are_known_operations(scenario: Scenario) -> None:
    named = {name.strip() for need in scenario.needs for name in need.split("|")}
    assert named <= EVERYTHING.offers


@EVERY
@pytest.mark.parametrize("size", SIZES)
def test_the_same_seed_gives_the_same_schedule(scenario: Scenario, size: int) -> None:
    for seed in SEEDS:
        one, other = planned(scenario, seed, size)[0], planned(scenario, seed, size)[0]
        assert [told(world) for world in one] == [told(world) for world in other]


@EVERY
def test_another_seed_plants_other_canaries(scenario: Scenario) -> None:
    one, other = (
        {canary.text for world in planned(scenario, seed, 1)[0] for probe in world.probes for canary in probe.sows}
        for seed in (1, 2)
    )
    assert one.isdisjoint(other)


@EVERY
def test_its_plan_is_quick(scenario: Scenario) -> None:
    started = time.process_time()
    planned(scenario, 1, 3)
    assert time.process_time() - started < 1.0


@EVERY
def test_it_sends_something_and_more_at_a_larger_size(scenario: Scenario) -> None:
    counts = [sum(len(world.probes) for world in planned(scenario, 1, size)[0]) for size in SIZES]
    assert counts[0] > 0
    assert counts == sorted(counts)


@EVERY
def test_probe_ids_are_unique_in_a_world(scenario: Scenario) -> None:
    for world in every_world(scenario):
        names = [probe.id for probe in world.probes]
        assert len(names) == len(set(names))


@EVERY
def test_every_probe_is_a_call_of_the_contract(scenario: Scenario) -> None:
    for world in every_world(scenario):
        for probe in world.probes:
            parameters = OPERATIONS[probe.call.op].parameters
            required = {name for name, default in parameters.items() if default is ...}
            given = set(probe.call.arguments)
            assert required <= given <= set(parameters), (probe.id, probe.call.op)


@EVERY
def test_what_a_probe_sows_stands_in_what_it_sends(scenario: Scenario) -> None:
    for world in every_world(scenario):
        for probe in world.probes:
            sent = [text for text in probe.call.arguments.values() if isinstance(text, str)]
            for canary in probe.sows:
                assert any(canary.text in text for text in sent), probe.id


@EVERY
def test_no_canary_is_sent_without_being_sown(scenario: Scenario) -> None:
    for seed in SEEDS:
        worlds, keyring = planned(scenario, seed, 2)
        scanner = Scanner([keyring], level="S2", prefix=DEFAULT_PREFIX)
        for world in worlds:
            for probe in world.probes:
                sown = {canary.text for canary in probe.sows}
                for value in probe.call.arguments.values():
                    if isinstance(value, str):
                        assert {s.opened.token for s in scanner.scan(value).sightings} <= sown, probe.id


@EVERY
def test_only_a_request_sent_again_sows_a_canary_again(scenario: Scenario) -> None:
    for world in every_world(scenario):
        sown: dict[str, Any] = {}
        for probe in world.probes:
            request = (probe.call.op, probe.call.scope, probe.call.request_id, probe.call.arguments)
            for canary in probe.sows:
                first = sown.setdefault(canary.text, request)
                assert first is request or (first == request and probe.call.request_id), probe.id


@EVERY
def test_a_probe_waits_only_for_earlier_probes(scenario: Scenario) -> None:
    for world in every_world(scenario):
        known: set[str] = set()
        for phase in world.phases:
            for line in phase.lines:
                before = set(known)
                for probe in line.probes:
                    values = probe.call.arguments.values()
                    awaited = {value.probe for value in values if isinstance(value, ValueOf)}
                    assert awaited <= before, (probe.id, awaited)
                    assert not probe.twin or probe.twin in before, (probe.id, probe.twin)
                    before.add(probe.id)
            known |= {probe.id for line in phase.lines for probe in line.probes}


@EVERY
def test_lower_ids_collide_where_owners_part_above(scenario: Scenario) -> None:
    """Else a target that keys by the lower id alone would look right by luck."""
    if scenario.direction is None:
        pytest.skip("crosses no one level")
    level = scenario.direction
    for world in every_world(scenario):
        owners = {canary.owner for probe in world.probes for canary in probe.sows}
        crossed = [(one, other) for one in owners for other in owners if one.boundary(other) is level]
        assert any(one.path[level:] == other.path[level:] for one, other in crossed)


@EVERY
def test_two_owners_say_the_same_but_for_their_canaries(scenario: Scenario) -> None:
    if scenario.direction is None or scenario.id == "foreign_word":
        pytest.skip("the wording is the point")
    for world in every_world(scenario):
        said: dict[Any, set[str]] = {}
        for probe in world.probes:
            for canary in probe.sows:
                argument = OPERATIONS[probe.call.op].plants
                text = str(probe.call.arguments[argument]).replace(canary.text, "…")
                key = (probe.call.op, str(probe.call.arguments.get("key", "")))
                said.setdefault(key, set()).add(text)
        assert all(len(texts) == 1 for texts in said.values()), said


@EVERY
def test_a_nonce_gives_every_tenant_a_name_of_its_own(scenario: Scenario) -> None:
    tenants = [
        {probe.call.scope.tenant for world in planned(scenario, 1, 1, nonce)[0] for probe in world.probes}
        for nonce in ("", "5eed")
    ]
    plain, named = ({tenant for tenant in found if tenant} for found in tenants)
    assert plain.isdisjoint(named)


@EVERY
def test_on_a_target_that_can_do_nothing_there_is_an_obstacle_in_words(scenario: Scenario) -> None:
    assert scenario.obstacle(EVERYTHING) == ""
    if scenario.needs:
        assert scenario.obstacle(Capabilities(frozenset()))
