"""The OpenAI client and plain httpx take every answer: text and tools, whole and streamed, sync and async."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import openai
import pytest
from partywall.harness.mock_llm import MockLLM

_TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("get_weather", "delete_memory")
]
_ASK: Any = [
    {"role": "system", "content": "You are terse.\nann likes tea."},
    {"role": "user", "content": "what do I like?"},
]
_SAID = "You asked:\n> what do I like?\nI was given:\n> You are terse.\n> ann likes tea."
_USE: Any = [{"role": "user", "content": 'please use tool get_weather {"city": "Paris", "deep": {"a": [1]}} now'}]


async def _ask(mock: MockLLM, *, sync: bool, **request: Any) -> list[dict[str, Any]]:
    """The completion, or the chunks, as the client's models dump them."""
    if sync:
        return await asyncio.to_thread(_ask_sync, mock.base_url, request)
    async with openai.AsyncOpenAI(base_url=mock.base_url, api_key="any") as client:
        answer = await client.chat.completions.create(model="gpt-x", **request)
        if request.get("stream"):
            return [chunk.model_dump() async for chunk in answer]
        return [answer.model_dump()]


def _ask_sync(base_url: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    with openai.OpenAI(base_url=base_url, api_key="any") as client:
        answer = client.chat.completions.create(model="gpt-x", **request)
        if request.get("stream"):
            return [chunk.model_dump() for chunk in answer]
        return [answer.model_dump()]


@pytest.mark.parametrize("sync", [True, False])
def test_text_is_whole_in_one_document(sync: bool) -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            [answer] = await _ask(mock, sync=sync, messages=_ASK)
        assert answer["choices"][0]["message"]["content"] == _SAID
        assert answer["choices"][0]["finish_reason"] == "stop"
        assert answer["model"] == "gpt-x"
        assert answer["usage"]["total_tokens"] > 0

    asyncio.run(run())


@pytest.mark.parametrize("sync", [True, False])
def test_text_streams_in_the_providers_order(sync: bool) -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            chunks = await _ask(mock, sync=sync, messages=_ASK, stream=True, stream_options={"include_usage": True})
        *deltas, finish, usage = chunks
        assert deltas[0]["choices"][0]["delta"]["role"] == "assistant"
        assert "".join(chunk["choices"][0]["delta"]["content"] for chunk in deltas) == _SAID
        assert [chunk["choices"][0]["finish_reason"] for chunk in [*deltas, finish]] == [None] * len(deltas) + ["stop"]
        assert usage["choices"] == []
        assert usage["usage"]["total_tokens"] > 0
        assert all(chunk["usage"] is None for chunk in [*deltas, finish])
        assert {chunk["id"] for chunk in chunks} == {chunks[0]["id"]}

    asyncio.run(run())


def test_usage_is_streamed_only_where_it_is_asked_for() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            chunks = await _ask(mock, sync=False, messages=_ASK, stream=True)
        assert all(chunk["choices"] for chunk in chunks)

    asyncio.run(run())


@pytest.mark.parametrize("sync", [True, False])
def test_a_tool_is_called_with_the_arguments_as_written(sync: bool) -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            [answer] = await _ask(mock, sync=sync, messages=_USE, tools=_TOOLS)
        choice = answer["choices"][0]
        [call] = choice["message"]["tool_calls"]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"] is None
        assert call["function"] == {"name": "get_weather", "arguments": '{"city": "Paris", "deep": {"a": [1]}}'}

    asyncio.run(run())


@pytest.mark.parametrize("sync", [True, False])
def test_a_streamed_tool_call_assembles_to_the_whole_one(sync: bool) -> None:
    async def run() -> None:
        use: Any = [{"role": "user", "content": 'use tool get_weather {"city": "a b c"}, use tool delete_memory'}]
        async with MockLLM() as mock:
            chunks = await _ask(mock, sync=sync, messages=use, tools=_TOOLS, stream=True)
        calls: dict[int, list[str]] = {}
        for chunk in chunks:
            for part in chunk["choices"][0]["delta"]["tool_calls"] or []:
                call = calls.setdefault(part["index"], ["", "", ""])
                function = part["function"]
                for at, text in enumerate((part["id"], function["name"], function["arguments"])):
                    call[at] += text or ""
        assert [call[1:] for call in calls.values()] == [
            ["get_weather", '{"city": "a b c"}'],
            ["delete_memory", "{}"],
        ]
        assert calls[0][0] != calls[1][0]
        assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"

    asyncio.run(run())


def test_a_tool_result_is_answered_in_text() -> None:
    async def run() -> None:
        async with MockLLM() as mock, openai.AsyncOpenAI(base_url=mock.base_url, api_key="any") as client:
            first = await client.chat.completions.create(model="m", messages=_USE, tools=_TOOLS)
            message = first.choices[0].message
            assert message.tool_calls
            result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "rain in Paris"}
            history: Any = [*_USE, message.model_dump(exclude_none=True), result]
            second = await client.chat.completions.create(model="m", messages=history, tools=_TOOLS)
        assert second.choices[0].finish_reason == "stop"
        assert "The tools answered:\n> rain in Paris" in (second.choices[0].message.content or "")

    asyncio.run(run())


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("none", []),
        ("required", ["get_weather"]),
        ({"type": "function", "function": {"name": "delete_memory"}}, ["delete_memory"]),
    ],
)
def test_tool_choice_is_obeyed(choice: Any, called: list[str]) -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            [answer] = await _ask(mock, sync=False, messages=_ASK, tools=_TOOLS, tool_choice=choice)
        calls = answer["choices"][0]["message"]["tool_calls"] or []
        assert [call["function"]["name"] for call in calls] == called

    asyncio.run(run())


def test_a_tool_not_on_offer_is_not_called() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            use: Any = [{"role": "user", "content": "use tool drop_tables {}"}]
            [answer] = await _ask(mock, sync=False, messages=use, tools=_TOOLS)
        assert answer["choices"][0]["message"]["tool_calls"] is None

    asyncio.run(run())


def test_a_line_is_quoted_once_however_long_the_conversation_grows() -> None:
    async def run() -> None:
        history: Any = [{"role": "system", "content": "ann likes tea."}]
        async with MockLLM() as mock:
            for number in range(12):
                history.append({"role": "user", "content": f"question {number}"})
                [answer] = await _ask(mock, sync=False, messages=history)
                said = answer["choices"][0]["message"]["content"]
                history.append({"role": "assistant", "content": said})
        assert said.count("ann likes tea.") == 1
        assert all(f"> question {number}" in said for number in range(12))
        assert len(said) < 400

    asyncio.run(run())


def test_embeddings_of_texts_that_share_words_lie_near() -> None:
    async def run() -> None:
        texts = ["ann likes green tea", "green tea is what ann likes", "the server was rebooted"]
        async with MockLLM() as mock, openai.AsyncOpenAI(base_url=mock.base_url, api_key="any") as client:
            answer = await client.embeddings.create(model="e", input=texts)
            floats = await client.embeddings.create(model="e", input=texts[0], encoding_format="float")
            wide = await client.embeddings.create(model="e", input="a", dimensions=256)
        one, near, far = [row.embedding for row in answer.data]
        assert sum(a * b for a, b in zip(one, near, strict=True)) > 0.6
        assert sum(a * b for a, b in zip(one, far, strict=True)) < 0.4
        assert floats.data[0].embedding == pytest.approx(one, abs=1e-6)
        assert len(wide.data[0].embedding) == 256

    asyncio.run(run())


def test_models_are_listed_and_errors_have_the_openai_shape() -> None:
    async def run() -> None:
        async with MockLLM() as mock, openai.AsyncOpenAI(base_url=mock.base_url, api_key="any") as client:
            assert [model.id async for model in client.models.list()] == ["mock", "mock-embedding"]
            assert (await client.models.retrieve("gpt-x")).id == "gpt-x"
            with pytest.raises(openai.BadRequestError, match="'messages'"):
                await client.post("/chat/completions", body={"model": "m"}, cast_to=object)
            with pytest.raises(openai.NotFoundError):
                await client.post("/nothing/here", body={}, cast_to=object)

    asyncio.run(run())


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"", b'{"messages": 7}', b'{"messages": [7]}', b"\xff\xfe", b'{"a":' * 100_000, b"{} {}"],
    ids=["cut", "list", "empty", "number", "numbers", "bytes", "deep", "two"],
)
def test_a_body_that_is_no_request_gets_a_400_and_the_server_lives(content: bytes) -> None:
    async def run() -> None:
        async with MockLLM() as mock, httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
            refused = await client.post("/chat/completions", content=content)
            assert refused.status_code == 400
            assert set(refused.json()["error"]) == {"message", "type", "param", "code"}
            assert (await client.get("/healthz")).json() == {"status": "ok"}
            assert mock.wiretap.crashes == 0
            assert mock.wiretap.exchanges()[0].body == content

    asyncio.run(run())


def test_unknown_fields_odd_contents_and_any_key_are_taken() -> None:
    async def run() -> None:
        body = {
            "messages": [
                {"role": "developer", "content": [{"type": "text", "text": "part one"}, {"type": "image_url"}]},
                {"role": "user", "content": [{"type": "text", "text": "lone \ud83d surrogate"}], "x": 1},
                {"role": "assistant", "content": None, "tool_calls": None},
            ],
            "stream": False,
            "no_such_field": {"a": 1},
        }
        async with MockLLM() as mock, httpx.AsyncClient(trust_env=False) as client:
            answer = await client.post(
                mock.base_url + "/chat/completions?api-version=1",
                content=json.dumps(body),
                headers={"api-key": "k", "content-type": "text/plain", "accept": "text/event-stream"},
            )
        assert answer.status_code == 200
        said = answer.json()["choices"][0]["message"]["content"]
        assert "> part one" in said
        assert "> lone \ud83d surrogate" in said

    asyncio.run(run())


def test_method_not_allowed_and_head_are_answered_as_http_says() -> None:
    async def run() -> None:
        async with MockLLM() as mock, httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
            assert (await client.get("/chat/completions")).status_code == 405
            assert (await client.post("/models")).status_code == 405
            head = await client.head("/models")
            assert (head.status_code, head.content) == (200, b"")
            assert (await client.get("/models")).json()["object"] == "list"

    asyncio.run(run())
