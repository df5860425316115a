"""The same seed and prompt give the same bytes in a scope, however calls interleave."""

from __future__ import annotations

import asyncio
import json
import random

import httpx
from partywall.harness.mock_llm import MockLLM

_SCOPES = [("acme", "ann"), ("acme", "bob"), ("zeta", "ann"), ("zeta", "bob")]


async def _run(seed: int, order: int) -> dict[tuple[str, str], list[bytes]]:
    """Four scopes, fifty calls each, all at once in an order of their own; answers by scope and question."""
    calls = [(scope, number) for scope in _SCOPES for number in range(50)]
    random.Random(order).shuffle(calls)
    async with MockLLM(seed=seed) as mock:

        async def ask(scope: tuple[str, str], number: int) -> bytes:
            message = {"role": "user", "content": f"q{number}"}
            body = json.dumps({"messages": [message], "stream": number % 2 == 1}).encode()
            path = mock.base_url_for(scope).partition(f":{mock.port}")[2] + "/chat/completions"
            reader, writer = await asyncio.open_connection("127.0.0.1", mock.port)
            head = f"POST {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            answer = await reader.read()
            writer.close()
            return answer

        answers = await asyncio.gather(*(ask(*call) for call in calls))
        exchanges = mock.wiretap.exchanges()
    assert sorted({exchange.scope for exchange in exchanges}) == ["acme/ann", "acme/bob", "zeta/ann", "zeta/bob"]
    for scope in ("acme/ann", "zeta/bob"):
        own = [exchange.call for exchange in exchanges if exchange.scope == scope]
        assert own == list(range(1, 51))
    by_call = dict(zip(calls, answers, strict=True))
    assert all(answer.startswith(b"HTTP/1.1 200 OK\r\n") for answer in answers)
    return {scope: [by_call[scope, number] for number in range(50)] for scope in _SCOPES}


def test_four_scopes_of_fifty_concurrent_calls_are_byte_identical_in_two_runs() -> None:
    assert asyncio.run(_run(7, order=1)) == asyncio.run(_run(7, order=2))


def test_another_seed_or_scope_gives_other_ids() -> None:
    one, other = asyncio.run(_run(7, order=1)), asyncio.run(_run(8, order=1))
    assert one[_SCOPES[0]] != other[_SCOPES[0]]
    assert len({tuple(answers) for answers in one.values()}) == 4


def test_a_retried_body_keeps_its_call_index_and_answer_and_counts_attempts() -> None:
    async def run() -> None:
        async with MockLLM(seed=7) as mock, httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
            bodies = [{"messages": [{"role": "user", "content": text}]} for text in ("a", "b", "a", "a")]
            answers = [(await client.post("/chat/completions", json=body)).content for body in bodies]
            seen = [(exchange.call, exchange.attempt) for exchange in mock.wiretap.exchanges()]
        assert seen == [(1, 1), (2, 1), (1, 2), (1, 3)]
        assert answers[0] == answers[2] == answers[3] != answers[1]

    asyncio.run(run())
