"""A long session is condensed, per task, by the model and never under the lock; a full one is cut; numbers go on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, ClassVar

import httpx
import pytest
from partywall.reference_impl.llm import ChatModel, ModelFailure, ModelOutputInvalid, ModelSettings
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.session_context import SessionContext

from .deployment import Deploy, Deployment, Echo

ANN = ("acme", "ann", "s1", "k1")
OTHER_TASK = (*ANN[:3], "k2")
LIMITS: dict[str, Any] = {"condense_at": 20, "max_turns": 30}
"""The ten last turns are kept."""


class Quoting(Echo):
    """Answers with the whole of what it was asked."""

    async def chat(self, context: SessionContext) -> str:
        await super().chat(context)
        return "in short: " + context.messages()[-1]["content"]


class Failing(Echo):
    """Fails, and counts how often it was asked."""

    asked: ClassVar[list[int]] = []
    failure: ClassVar[ModelFailure] = ModelOutputInvalid("not whole")

    async def chat(self, context: SessionContext) -> str:
        self.asked.append(1)
        raise self.failure


@pytest.fixture
def deployment(deploy: Deploy) -> Deployment:
    return deploy(replace(Parts(), model=Quoting), **LIMITS)


def _append(deployment: Deployment, count: int, at: tuple[str, ...] = ANN, start: int = 1) -> list[int]:
    texts = [f"word{n}." for n in range(start, start + count)]
    return [deployment.value("append_turn", at, text=text)["turn"] for text in texts]


def _numbers(deployment: Deployment) -> list[int]:
    return [turn["turn"] for turn in deployment.value("list_turns", ANN)]


def _summaries(deployment: Deployment, at: tuple[str, ...] = ANN) -> list[dict[str, Any]]:
    return [fact for fact in deployment.value("list_facts", at) if fact["key"] == "summary"]


def test_early_turns_become_one_fact_of_their_task_and_the_last_ones_stay(deployment: Deployment) -> None:
    assert _append(deployment, 20) == list(range(1, 21))
    assert _numbers(deployment) == list(range(11, 21))
    [summary] = _summaries(deployment)
    assert (summary["layer"], summary["source_turn"]) == ("task", 10)
    assert all(f"word{n}." in summary["value"] for n in range(1, 11))
    assert "word11." not in summary["value"]
    told = deployment.value("session_info", ANN)
    assert (told["turns"], told["first"], told["version"]) == (10, 11, 20)


def test_numbers_go_on_and_the_next_summary_holds_the_one_before(deployment: Deployment) -> None:
    assert _append(deployment, 45) == list(range(1, 46))
    numbers = _numbers(deployment)
    assert numbers == list(range(numbers[0], 46))
    [summary] = _summaries(deployment)
    assert all(f"word{n}." in summary["value"] for n in range(1, numbers[0]))
    chain = deployment.value("list_facts", ANN, include_superseded=True)
    assert [fact["superseded_by"] is None for fact in chain if fact["key"] == "summary"].count(True) == 1


def test_the_summary_is_part_of_its_own_tasks_context_alone(deployment: Deployment) -> None:
    _append(deployment, 20)
    assert "word3." in str(deployment.value("context", ANN, query="what?"))
    for other in (OTHER_TASK, ("acme", "bob", "s1", "k1"), (*ANN[:2], "s2", "k1")):
        assert "word3." not in str(deployment.value("context", other, query="what?"))


def test_a_prompt_that_condenses_holds_one_tasks_turns_and_no_others(deployment: Deployment) -> None:
    _append(deployment, 4, OTHER_TASK, 100)
    _append(deployment, 16)
    [prompt] = deployment.prompts
    assert "word1." in prompt
    assert "word100." not in prompt


def test_tasks_that_take_turns_lose_nothing_and_share_the_numbers(deployment: Deployment) -> None:
    for n in range(1, 41):
        _append(deployment, 1, (ANN, OTHER_TASK)[n % 2], n)
    numbers = _numbers(deployment)
    assert numbers == list(range(numbers[0], 41))
    assert len(numbers) <= 30
    for at, odd in ((ANN, 0), (OTHER_TASK, 1)):
        known = str(deployment.value("list_facts", at)) + str(deployment.value("list_turns", at))
        assert all(f"word{n}." in known for n in range(1, 41) if n % 2 == odd)


def test_a_session_filled_by_a_task_that_is_silent_is_cut_for_a_note_of_how_it_began(deploy: Deploy) -> None:
    Failing.asked.clear()
    deployment = deploy(replace(Parts(), model=Failing), **LIMITS)
    assert _append(deployment, 31) == list(range(1, 32))
    numbers = _numbers(deployment)
    assert numbers == list(range(numbers[0], 32))
    assert len(numbers) <= 30
    [summary] = _summaries(deployment)
    assert "cut without being condensed" in summary["value"]
    assert all(f"word{n}." in summary["value"] for n in range(1, numbers[0]))


def test_a_model_that_failed_is_not_asked_again_for_every_turn(deploy: Deploy) -> None:
    Failing.asked.clear()
    _append(deploy(replace(Parts(), model=Failing), **LIMITS), 29)
    assert len(Failing.asked) == 1


def test_turns_outside_of_any_task_leave_a_count_and_no_word_for_the_other_tasks(deployment: Deployment) -> None:
    _append(deployment, 31, ANN[:3])
    assert deployment.prompts == []
    [summary] = _summaries(deployment, ANN[:3])
    assert summary["layer"] == "session"
    assert "dropped unread" in summary["value"]
    assert "word" not in str(deployment.value("context", ANN, query="what?"))


@pytest.mark.parametrize("writers", [4, 16])
def test_many_who_append_at_once_lose_nothing_and_never_pass_the_limit(deployment: Deployment, writers: int) -> None:
    sizes = []
    for round_ in range(96 // writers):
        calls: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
            ("append_turn", ANN, {"text": f"word{round_ * writers + n}."}) for n in range(writers)
        ]
        answers = deployment.together(calls)
        assert {answer.status_code for answer in answers} == {200}
        sizes.append(deployment.value("session_info", ANN)["turns"])
    assert max(sizes) <= 30
    numbers = _numbers(deployment)
    assert numbers == list(range(numbers[0], 97))
    known = str(_summaries(deployment)) + str(deployment.value("list_turns", ANN))
    assert [n for n in range(96) if f"word{n}." not in known] == []


def test_a_purge_during_condensation_leaves_no_summary(deploy: Deploy) -> None:
    class Purging(Echo):
        async def chat(self, context: SessionContext) -> str:
            await purged.send("purge", ANN, level="session")
            return "in short: word1."

    purged = deploy(replace(Parts(), model=Purging), **LIMITS)
    _append(purged, 20)
    assert "word1." not in str(purged.view("stored_bytes"))


def test_a_retry_of_a_condensed_request_gets_its_number_and_stores_nothing(deployment: Deployment) -> None:
    first = deployment.value("append_turn", ANN, text="word0.", request_id="r1")
    _append(deployment, 20)
    assert deployment.value("append_turn", ANN, text="word0.", request_id="r1") == first
    assert "word0." not in str(deployment.value("list_turns", ANN))


def test_a_retry_of_a_turn_whose_answer_was_condensed_is_told_so_and_asks_no_model(deployment: Deployment) -> None:
    first = deployment.value("run_turn", ANN, text="word0.", request_id="r1")
    assert deployment.value("run_turn", ANN, text="word0.", request_id="r1")["text"] == first["text"]
    _append(deployment, 20)
    asked = len(deployment.prompts)
    late = deployment.value("run_turn", ANN, text="word0.", request_id="r1")
    assert (late["turn"], late["version"]) == (first["turn"], first["version"])
    assert (late["llm_used"], late["guidance"]["type"]) == (False, "answer_removed")
    assert len(deployment.prompts) == asked
    assert _numbers(deployment)[-1] == 22


def test_turns_of_another_task_in_front_do_not_have_the_model_asked_for_every_turn(deployment: Deployment) -> None:
    _append(deployment, 8, OTHER_TASK, 100)
    _append(deployment, 22)
    assert len(deployment.prompts) <= 4
    assert _numbers(deployment) == list(range(1, 31))


def test_a_summary_is_bounded_and_says_where_it_was_cut(deploy: Deploy) -> None:
    class Wordy(Echo):
        async def chat(self, context: SessionContext) -> str:
            return "word. " * 10_000

    deployment = deploy(replace(Parts(), model=Wordy), **LIMITS)
    _append(deployment, 20)
    [summary] = _summaries(deployment)
    assert len(summary["value"]) == 20_000
    assert summary["value"].endswith("[… cut here]")


def test_one_prompt_holds_no_more_than_it_may_and_the_rest_waits_for_the_next(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partywall.reference_impl.condense.MOST_ASKED", 1_000)
    for number in range(1, 21):
        deployment.value("append_turn", ANN, text=f"word{number}." + "x" * 300)
    assert _numbers(deployment)[0] == 4
    _append(deployment, 1)
    assert [max(map(len, deployment.prompts)) < 3_000, _numbers(deployment)[0]] == [True, 4]


def test_data_in_place_of_a_summary_is_stored_nowhere_and_the_session_goes_on(deploy: Deploy) -> None:
    class Structured(ChatModel):
        def __init__(self, settings: ModelSettings) -> None:
            choice = {"message": {"content": '{"summary": "hapaxlegomenon"}'}, "finish_reason": "stop"}
            answer = httpx.Response(200, json={"choices": [choice]})
            super().__init__(settings, httpx.MockTransport(lambda request: answer))

    deployment = deploy(replace(Parts(), model=Structured), **LIMITS)
    assert _append(deployment, 31) == list(range(1, 32))
    assert "hapaxlegomenon" not in str(deployment.view("stored_bytes"))
    assert "cut without being condensed" in _summaries(deployment)[0]["value"]
    assert any("model_output_invalid" in line for line in deployment.view("read_log"))


def test_a_full_session_waits_for_what_is_being_condensed_and_drops_nothing(deploy: Deploy) -> None:
    class Slow(Quoting):
        async def chat(self, context: SessionContext) -> str:
            began.set()
            await asyncio.wait_for(free.wait(), 20)
            return await super().chat(context)

    began, free = asyncio.Event(), asyncio.Event()
    deployment = deploy(replace(Parts(), model=Slow), **LIMITS)
    _append(deployment, 19)

    async def filling() -> list[int]:
        first = asyncio.create_task(deployment.send("append_turn", ANN, text="word20."))
        await began.wait()
        for number in range(21, 31):
            await deployment.send("append_turn", ANN, text=f"word{number}.")
        last = asyncio.create_task(deployment.send("append_turn", ANN, text="word31."))
        await asyncio.sleep(0.2)
        assert not last.done()
        free.set()
        return [answer.status_code for answer in await asyncio.gather(first, last)]

    assert deployment.runner.run(filling()) == [200, 200]
    assert "cut" not in str(_summaries(deployment))
    known = str(_summaries(deployment)) + str(deployment.value("list_turns", ANN))
    assert [n for n in range(1, 32) if f"word{n}." not in known] == []
    assert _numbers(deployment)[-1] == 31


def test_the_model_is_asked_again_after_a_while(deploy: Deploy) -> None:
    Failing.asked.clear()
    deployment = deploy(replace(Parts(), model=Failing), **LIMITS)
    _append(deployment, 22)
    assert len(Failing.asked) == 1
    deployment.system.clock.advance(61)
    _append(deployment, 1)
    assert len(Failing.asked) == 2
