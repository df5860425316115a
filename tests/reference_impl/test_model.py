"""The model may fail in any way; the turn ends typed, bounded, and with nothing of the failure kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from partywall.reference_impl.llm import ChatModel, ModelFailure, ModelOutputInvalid, ModelSettings
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.session_context import SessionContext

from .deployment import Deploy

ANN = ("acme", "ann", "s1", "k1")
ASKED = SessionContext([{"role": "user", "content": "hello [pw:p12]"}])
_CALL = {"type": "function", "function": {"name": "remember", "arguments": "{}"}}
FAST = ModelSettings("http://model.invalid/v1/", timeout=1.0, deadline=0.5, backoff=0.001)


def _completion(content: Any = "fine", finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish}]}


def _ask(answer: Callable[[httpx.Request], Any], settings: ModelSettings = FAST) -> tuple[str, int]:
    calls = 0

    async def handle(request: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        made = answer(request)
        response: httpx.Response = await made if asyncio.iscoroutine(made) else made
        return response

    async def run() -> str:
        model = ChatModel(settings, httpx.MockTransport(handle))
        try:
            return await model.chat(ASKED)
        finally:
            await model.aclose()

    try:
        return asyncio.run(run()), calls
    except ModelFailure as failure:
        return f"{failure.kind}: {failure}", calls


def test_the_question_goes_out_as_it_is() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "http://model.invalid/v1/chat/completions"
        assert json.loads(request.content)["messages"] == ASKED.messages()
        assert "authorization" not in request.headers
        return httpx.Response(200, json=_completion())

    assert _ask(answer) == ("fine", 1)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"<html>",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"error": {"message": "x"}}',
        b"[" * 100_000,
        json.dumps(_completion(None)).encode(),
        json.dumps(_completion("")).encode(),
        json.dumps(_completion(" \x00\n")).encode(),
        json.dumps(_completion([{"type": "text", "text": "x"}])).encode(),
        json.dumps(_completion("cut", "length")).encode(),
        json.dumps(_completion("x", "content_filter")).encode(),
        json.dumps(_completion("x", None)).encode(),
        json.dumps(_completion("x", "other")).encode(),
        json.dumps(_completion("x", refusal="no")).encode(),
        json.dumps(_completion("x", tool_calls=[{"id": "1"}])).encode(),
        json.dumps(_completion(None, "tool_calls", tool_calls=[_CALL])).encode(),
        json.dumps(_completion('{"facts": ["a", ]')).encode(),
        json.dumps(_completion('```json\n{"label": "maybe"}\n```')).encode(),
        json.dumps(_completion("the key is sk-live-0123456789abcdef")).encode(),
        json.dumps(_completion("x" * 1_000_001)).encode(),
    ],
)
def test_what_is_no_whole_answer_is_invalid_and_not_asked_again(body: bytes) -> None:
    text, calls = _ask(lambda _: httpx.Response(200, content=body))
    assert text.startswith(ModelOutputInvalid.kind)
    assert calls == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_passing_failure_is_tried_three_times_in_all(status: int) -> None:
    assert _ask(lambda _: httpx.Response(status, text="<html>secret")) == (f"model_unavailable: status {status}", 3)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_lasting_failure_is_not_tried_again(status: int) -> None:
    assert _ask(lambda _: httpx.Response(status)) == (f"model_unavailable: status {status}", 1)


def test_a_broken_connection_is_tried_again() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("http://user:password@model.invalid")

    assert _ask(answer) == ("model_unavailable: ConnectError", 3)


def test_a_model_that_hangs_or_drips_meets_the_deadline() -> None:
    async def drip() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    async def hang() -> httpx.Response:
        await asyncio.sleep(60)
        raise AssertionError

    assert _ask(lambda _: hang()) == ("model_unavailable: deadline", 1)
    assert _ask(lambda _: httpx.Response(200, content=drip())) == ("model_unavailable: deadline", 1)


def test_control_characters_do_not_come_through() -> None:
    text, _ = _ask(lambda _: httpx.Response(200, json=_completion("a\x1b[2J\u202eb\tc\n")))
    assert text == "a[2Jb\tc\n"


@pytest.mark.parametrize("failure", [ModelFailure("status 503"), ModelOutputInvalid("no whole answer")])
def test_a_failed_turn_is_degraded_typed_and_leaves_the_session_clean(deploy: Deploy, failure: ModelFailure) -> None:
    class Failing(ChatModel):
        prompts: list[str] = []  # noqa: RUF012
        broken = True

        async def chat(self, context: SessionContext) -> str:
            self.prompts.append(str(context.messages()))
            if self.broken:
                raise failure
            return "well again"

    deployment = deploy(replace(Parts(), model=Failing))
    turn = deployment.value("run_turn", ANN, text="hello", request_id="r1")
    assert (turn["llm_used"], turn["guidance"]["type"], turn["turn"]) == (False, failure.kind, 1)
    assert [each["role"] for each in deployment.value("list_turns", ANN)] == ["user"]
    assert deployment.value("list_facts", ANN) == []
    answer = deployment.post("cached_answer", ANN, query="hello?")
    assert (answer.status_code, answer.json()["code"]) == (503, "model_unavailable")
    Failing.broken = False
    again = deployment.value("run_turn", ANN, text="hello", request_id="r1")
    assert (again["text"], again["turn"], again["llm_used"]) == ("well again", 1, True)
    assert [each["text"] for each in deployment.value("list_turns", ANN)] == ["hello", "well again"]
    assert deployment.value("cached_answer", ANN, query="hello?").startswith("well again")
