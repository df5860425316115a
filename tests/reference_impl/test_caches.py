"""Four caches in one store: each value has its purpose, its owner, and goes when what it rests on changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from partywall.canaries import Scope
from partywall.reference_impl.caches import Purpose
from partywall.reference_impl.embedding import embed, nearness, packed, unpacked
from partywall.reference_impl.keys import Keys
from partywall.reference_impl.llm import Said, ToolCall
from partywall.reference_impl.parts import Parts

from .deployment import Deploy, Deployment, Echo

ANN = ("acme", "ann", "s1", "k1")
OTHERS = [("zeta", *ANN[1:]), ("acme", "bob", *ANN[2:]), (*ANN[:2], "s2", "k1"), (*ANN[:3], "k2")]


class LooksUp(Echo):
    """Calls the tool that reads."""

    async def say(self, context: Any, offered: Any = ()) -> Said:
        return Said("", (ToolCall("look_up", '{"words": "tea"}'),))


def _purposes(deployment: Deployment) -> list[str]:
    return sorted(key.split("|")[4][1:] for key in deployment.view("stored_keys")["cache"])


@pytest.fixture
def agent(deploy: Deploy) -> Deployment:
    return deploy(replace(Parts(), model=LooksUp))


def test_all_four_purposes_come_to_be_each_under_its_own_name(agent: Deployment) -> None:
    agent.value("add_memory", ANN, text="tea at four")
    agent.value("run_turn", ANN, text="please look up tea")
    agent.value("cached_answer", ANN, query="when is tea?")
    assert set(_purposes(agent)) == {str(purpose) for purpose in Purpose}


def test_the_same_words_for_another_purpose_are_another_entry(reference: Deployment) -> None:
    texts = [f"tea number {n}" for n in range(12)]
    for text in texts:
        reference.value("add_memory", ANN, text=text)
    shown = reference.value("context", ANN, query="tea")
    assert len(shown) < len(texts)
    found = reference.value("search_memory", ANN, query="tea", limit=20)
    assert {each["text"] for each in found} == set(texts)


def test_a_smaller_limit_asked_before_does_not_cut_what_is_asked_for_after(reference: Deployment) -> None:
    for n in range(4):
        reference.value("add_memory", ANN, text=f"tea number {n}")
    counts = [len(reference.value("search_memory", ANN, query="tea", limit=limit)) for limit in (1, 20, 2, 101)]
    assert counts == [1, 4, 2, 4]


def test_a_cached_search_is_dropped_by_a_new_memory_and_by_a_deleted_one(reference: Deployment) -> None:
    first = reference.value("add_memory", ANN, text="tea at four")
    assert len(reference.value("search_memory", ANN, query="tea")) == 1
    reference.value("add_memory", OTHERS[2], text="tea at five")
    assert len(reference.value("search_memory", ANN, query="tea")) == 2
    reference.value("delete_memory", ANN, memory_id=first)
    assert [each["text"] for each in reference.value("search_memory", ANN, query="tea")] == ["tea at five"]


def test_a_tools_cached_result_is_its_callers_own(agent: Deployment) -> None:
    agent.value("add_memory", ANN, text="tea at four")
    assert "tea at four" in agent.value("run_turn", ANN, text="look up tea")["text"]
    for other in OTHERS[:2]:
        assert agent.value("run_turn", other, text="look up tea")["text"] == "I have found 0 memories."


def test_a_second_look_up_is_answered_from_the_cache_with_the_same(agent: Deployment) -> None:
    agent.value("add_memory", ANN, text="tea at four")
    said = [agent.value("run_turn", ANN, text="look up tea")["text"] for _ in range(2)]
    kept = [line for line in agent.view("stored_bytes")["cache"] if "|ptool|" in line]
    assert said[0] == said[1]
    assert [json.loads(line.partition("\t")[2]) for line in kept] == [["tea at four"]]


@pytest.mark.parametrize("other", OTHERS)
def test_scopes_share_a_fingerprint_and_differ_in_the_prefix(other: tuple[str, ...]) -> None:
    one, two = (Keys().cache(Scope(*at), "response", {"question": "x"}) for at in (ANN, other))
    assert one != two
    assert one.rpartition("|")[2] == two.rpartition("|")[2]


def test_an_embedding_is_the_same_for_the_same_text_and_near_for_shared_words() -> None:
    one, two, far = embed("open order for tea"), embed("the open order of tea"), embed("zzz qqq")
    assert one == embed("open order for tea")
    assert nearness(one, one) == pytest.approx(1)
    assert nearness(one, two) > nearness(one, far)
    assert embed("…") == (0.0,) * 64


def test_a_packed_vector_comes_back_to_within_a_step() -> None:
    vector = embed("booking reference of the open order")
    assert unpacked(packed(vector)) == pytest.approx(vector, abs=1 / 127)
    assert len(packed(vector)) == 128


def test_what_lies_near_is_recalled_though_no_whole_word_is_shared(reference: Deployment) -> None:
    reference.value("add_memory", ANN, text="the bookings of spring")
    for n in range(20):
        reference.value("add_memory", ANN, text=f"{n} {n} {n}")
    assert any("bookings of spring" in each for each in reference.value("context", ANN, query="booking"))
