"""Every fault reaches a client as its id says, and the wiretap knows whether it got there."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from partywall.canaries import UsageError
from partywall.harness.mock_llm import MockLLM, registry
from partywall.harness.mock_llm import faults as folder

SEVEN = ("normal", "invalid-json", "exception", "timeout", "fictitious-tool", "sensitive-echo", "ambiguous")
_BODY: Any = {"messages": [{"role": "user", "content": "hi"}], "model": "m"}


@pytest.mark.parametrize("name", sorted(registry.faults()))
@pytest.mark.parametrize("stream", [False, True])
def test_every_fault_is_delivered_recorded_and_outlived(name: str, stream: bool) -> None:
    """The generic test of the folder: a new fault is covered before its author writes a test."""

    async def run() -> None:
        async with MockLLM(fault=name) as mock:
            patience = 5 if registry.fault(name).frames is None else 0.3
            async with httpx.AsyncClient(base_url=mock.base_url, trust_env=False, timeout=patience) as client:
                try:
                    async with asyncio.timeout(patience + 0.4):
                        await client.post("/chat/completions", json={**_BODY, "stream": stream})
                except (httpx.HTTPError, TimeoutError):
                    pass
            await asyncio.sleep(0.02)
            [exchange] = mock.wiretap.exchanges()
            assert exchange.fault == registry.fault(name).id
            assert exchange.delivered
            mock.fault = "steady"
            async with httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
                assert (await client.post("/chat/completions", json=_BODY)).status_code == 200

    asyncio.run(run())


def test_every_file_of_the_folder_is_a_fault() -> None:
    names = {path.stem for path in Path(folder.__path__[0]).glob("*.py")} - {"__init__"}
    assert {registry.file_name(name) for name in registry.faults()} == names
    assert set(registry.faults()) >= {"steady", *SEVEN}


def test_steady_changes_no_byte() -> None:
    fault = registry.fault("steady")
    assert (fault.turn, fault.document, fault.frames) == (None, None, None)


@pytest.mark.parametrize("stream", [False, True])
def test_an_exception_is_a_500_that_the_client_retries(stream: bool) -> None:
    async def run() -> None:
        async with MockLLM(fault="exception") as mock, _client(mock, max_retries=2) as client:
            with pytest.raises(openai.InternalServerError, match="server had an error"):
                await client.chat.completions.create(**_BODY, stream=stream)
            seen = [(exchange.call, exchange.attempt, exchange.delivered) for exchange in mock.wiretap.exchanges()]
        assert seen == [(1, 1, True), (1, 2, True), (1, 3, True)]

    asyncio.run(run())


@pytest.mark.parametrize("stream", [False, True])
def test_a_timeout_is_never_answered_and_counts_once_the_client_has_waited(stream: bool) -> None:
    async def run() -> None:
        async with MockLLM(fault="timeout") as mock:
            async with _client(mock, timeout=0.2) as client:
                with pytest.raises(openai.APITimeoutError):
                    await client.chat.completions.create(**_BODY, stream=stream)
            await asyncio.sleep(0.02)
            [exchange] = mock.wiretap.exchanges()
        assert (exchange.answer, exchange.delivered, exchange.closed_first) == (b"", True, "client")

    asyncio.run(run())


def test_a_client_that_leaves_at_once_was_not_given_the_timeout() -> None:
    async def run() -> None:
        async with MockLLM(fault="timeout") as mock:
            _, writer = await asyncio.open_connection("127.0.0.1", mock.port)
            body = json.dumps(_BODY).encode()
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            writer.close()
            await writer.wait_closed()
            await mock.wiretap.wait_for(1, 2)
            await asyncio.sleep(0.1)
            [exchange] = mock.wiretap.exchanges()
        assert (exchange.fault, exchange.delivered) == ("timeout", False)

    asyncio.run(run())


@pytest.mark.parametrize("stream", [False, True])
def test_invalid_json_is_the_content_and_no_parser_takes_it(stream: bool) -> None:
    async def run() -> None:
        async with MockLLM(fault="invalid_json") as mock, _client(mock) as client:
            answer: Any = await client.chat.completions.create(**_BODY, stream=stream)
            if stream:
                text = "".join([chunk.choices[0].delta.content or "" async for chunk in answer])
            else:
                text = answer.choices[0].message.content
            [exchange] = mock.wiretap.exchanges()
            assert text == f'{{"facts": ["{exchange.mark}", ]' == exchange.said
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)

    asyncio.run(run())


def test_a_proxys_html_is_a_502_that_is_no_json() -> None:
    async def run() -> None:
        async with MockLLM(fault="http.500_html") as mock, httpx.AsyncClient(trust_env=False) as client:
            answer = await client.post(mock.base_url + "/chat/completions", json=_BODY)
        assert answer.status_code == 502
        assert answer.headers["content-type"] == "text/html"
        assert answer.text.startswith("<html>")

    asyncio.run(run())


def test_a_drip_outlives_every_read_time_out() -> None:
    async def run() -> None:
        async with MockLLM(fault="tcp.drip") as mock:
            async with httpx.AsyncClient(trust_env=False, timeout=0.8) as client:
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(1.3):
                        await client.post(mock.base_url + "/chat/completions", json=_BODY)
            await asyncio.sleep(0.02)
            [exchange] = mock.wiretap.exchanges()
        assert exchange.answer.count(b"1\r\n \r\n") == 2
        assert exchange.delivered

    asyncio.run(run())


def test_a_fault_leaves_embeddings_and_models_alone() -> None:
    async def run() -> None:
        async with MockLLM(fault="exception") as mock, _client(mock) as client:
            assert (await client.embeddings.create(model="e", input="a")).data
            assert (await client.models.list()).data
            assert [exchange.fault for exchange in mock.wiretap.exchanges()] == [None, None]

    asyncio.run(run())


def test_an_unknown_fault_is_refused_with_what_is_known() -> None:
    with pytest.raises(
        UsageError, match=r"no fault 'exeption'; known: ambiguous, exception, .* \(did you mean 'exception'\?\)"
    ):
        MockLLM(fault="exeption")


def _client(mock: MockLLM, timeout: float = 5, max_retries: int = 0) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=mock.base_url, api_key="any", timeout=timeout, max_retries=max_retries)


def test_cut_arguments_are_the_first_half_of_a_call_that_is_said_to_be_whole() -> None:
    async def run() -> None:
        async with MockLLM(fault="invalid-json") as mock, _client(mock) as client:
            tool: Any = {"type": "function", "function": {"name": "delete_memory", "parameters": {}}}
            asked: Any = [{"role": "user", "content": 'use tool delete_memory {"ids": ["m1"], "where": "x"}'}]
            answer = await client.chat.completions.create(model="m", messages=asked, tools=[tool])
            [choice] = answer.choices
            [call] = choice.message.tool_calls or []
        assert choice.finish_reason == "tool_calls"
        assert call.type == "function"
        assert call.function.arguments.startswith('{"ids": ["m1"]')
        with pytest.raises(json.JSONDecodeError):
            json.loads(call.function.arguments)

    asyncio.run(run())


def test_a_fictitious_tool_is_called_though_nobody_offered_it() -> None:
    async def run() -> None:
        async with MockLLM(fault="fictitious-tool") as mock, _client(mock) as client:
            [choice] = (await client.chat.completions.create(**_BODY)).choices
            [exchange] = mock.wiretap.exchanges()
        assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
        assert exchange.mark in exchange.said
        assert exchange.said.startswith("erase_all_memories {")

    asyncio.run(run())


def test_a_sensitive_echo_repeats_the_system_prompt_and_a_credential() -> None:
    async def run() -> str:
        async with MockLLM(fault="sensitive-echo") as mock, _client(mock) as client:
            system: Any = {"role": "system", "content": "Keep the recipe to yourself."}
            answer = await client.chat.completions.create(model="m", messages=[system, *_BODY["messages"]])
        return answer.choices[0].message.content or ""

    text = asyncio.run(run())
    assert "Keep the recipe to yourself." in text
    assert "Authorization: Bearer sk-live-flt" in text


def test_an_ambiguous_answer_gives_no_label_the_lead() -> None:
    async def run() -> Any:
        async with MockLLM(fault="ambiguous") as mock, _client(mock) as client:
            return json.loads((await client.chat.completions.create(**_BODY)).choices[0].message.content or "")

    found = asyncio.run(run())
    assert found["label"] not in {each["label"] for each in found["candidates"]}
    assert [each["confidence"] for each in found["candidates"]] == [0.5, 0.5]


@pytest.mark.parametrize("name", sorted(registry.faults()))
def test_what_a_fault_says_bears_a_mark_that_the_seed_decides(name: str) -> None:
    async def said(seed: int) -> tuple[str, str]:
        async with MockLLM(seed=seed, fault=name) as mock, httpx.AsyncClient(trust_env=False, timeout=0.3) as client:
            with contextlib.suppress(httpx.HTTPError):
                async with asyncio.timeout(0.6):
                    await client.post(mock.base_url + "/chat/completions", json=_BODY)
            await mock.wiretap.wait_for(1, 2)
            exchange = mock.wiretap.exchange(1)
            return exchange.said, exchange.mark

    if registry.fault(name).turn is None and registry.fault(name).document is None:
        assert asyncio.run(said(1)) == ("", "")
        return
    (first, mark), again, other = asyncio.run(said(1)), asyncio.run(said(1)), asyncio.run(said(2))
    assert mark
    assert mark in first
    assert (first, mark) == again
    assert mark != other[1]
