"""A number that a target promises takes its place when a plan is fitted; without the promise, the probe is left out."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from partywall.canaries import Keyring
from partywall.harness.plan import OPERATIONS, Capabilities, Planting, Promised, Schedule, Script, ValueOf, promised

PROMISES = {"lifetime": 100, "max_turns": 3, "rate_limit": {"user": 4, "tenant": 0}}
ALL = Capabilities(frozenset(OPERATIONS), promises=PROMISES, authenticates=True)


def script() -> Script:
    return Script(Planting(Keyring.derive(b"promise tests are minted under this key", "test")), random.Random(1))


def fitted(words: Script, **promises: Any) -> Schedule:
    return words.schedule().fitted(replace(ALL, promises=promises or PROMISES))


def test_an_argument_becomes_the_promised_number() -> None:
    words = script()
    scope = words.mint.scope("acme", "ann", "s1", "k1")
    words.phase(words.later(scope, Promised("lifetime", times=0.5, plus=1)))
    (probe,) = fitted(words).probes
    assert probe.call.arguments == {"seconds": 51.0}


def test_without_the_promise_the_probe_is_left_out_with_what_waits_for_it() -> None:
    words = script()
    scope = words.mint.scope("acme", "ann", "s1", "k1")
    moved = words.later(scope, Promised("lifetime"))
    waiting = words.probe("get_memory", scope, memory_id=ValueOf(moved.id))
    words.phase(moved, waiting, words.probe("list_turns", scope))
    assert [probe.call.op for probe in fitted(words, other=1).probes] == ["list_turns"]


def test_a_repeated_probe_becomes_as_many_as_are_promised_each_with_an_id_of_its_own() -> None:
    words = script()
    scope = words.mint.scope("acme", "ann", "s1", "k1")
    words.phase(words.filler(scope, Promised("max_turns", times=1.5)))
    probes = fitted(words).probes
    assert [probe.id for probe in probes] == ["p1.1", "p1.2", "p1.3", "p1.4", "p1.5"]
    assert {probe.call.op for probe in probes} == {"append_turn"}
    assert fitted(words, other=1).probes == ()


def test_a_target_without_a_bare_append_is_filled_by_turns_of_its_agent() -> None:
    words = script()
    words.phase(words.filler(words.mint.scope("acme", "ann", "s1", "k1"), Promised("max_turns")))
    agent = replace(ALL, operations=frozenset({"run_turn"}))
    assert [probe.call.op for probe in words.schedule().fitted(agent).probes] == ["run_turn"] * 3


def test_a_promise_that_no_plan_can_reach_is_not_tried() -> None:
    words = script()
    words.phase(words.filler(words.mint.scope("acme", "ann", "s1", "k1"), Promised("max_turns")))
    assert fitted(words, max_turns=10**9).probes == ()


def test_a_part_of_a_promise_is_a_need_of_its_own() -> None:
    assert {"promises.rate_limit", "promises.rate_limit.user"} <= ALL.offers
    assert "promises.rate_limit.tenant" not in ALL.offers


@pytest.mark.parametrize(
    ("promises", "name", "number"),
    [
        ({"lifetime": 8}, "lifetime", 8.0),
        ({"lifetime": 0.5}, "lifetime", 0.5),
        ({"rate_limit": {"user": 4}}, "rate_limit.user", 4.0),
        ({"rate_limit": 4}, "rate_limit.user", None),
        ({"lifetime": True}, "lifetime", None),
        ({"lifetime": "long"}, "lifetime", None),
        ({"lifetime": 0}, "lifetime", None),
        ({"lifetime": -1}, "lifetime", None),
        ({"lifetime": float("inf")}, "lifetime", None),
        ({}, "lifetime", None),
    ],
)
def test_only_a_positive_number_is_promised(promises: dict[str, Any], name: str, number: float | None) -> None:
    assert promised(promises, name) == number
