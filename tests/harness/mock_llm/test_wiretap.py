"""Every exchange is in the wiretap, whole, with its credentials hashed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from partywall.canaries import UsageError
from partywall.harness.mock_llm import Exchange, MockLLM
from partywall.harness.mock_llm.exchange import from_json
from partywall.harness.mock_llm.journal import JournalError, verify


def _chat(text: str) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}]}


def test_a_prompt_of_five_megabytes_is_kept_to_its_last_line() -> None:
    async def run() -> None:
        lines = "\n".join(f"line {number} of a very long context" for number in range(160_000))
        body = json.dumps(_chat(lines + "\nmarker-zx81-end")).encode()
        assert len(body) > 5_000_000
        async with MockLLM() as mock, httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
            answer = await client.post("/chat/completions", content=body)
            [exchange] = await mock.wiretap.wait_for(1, 5)
        assert answer.status_code == 200
        assert len(answer.content) < 200_000
        assert "characters more" in answer.json()["choices"][0]["message"]["content"]
        assert exchange.body == body
        assert b"marker-zx81-end" in exchange.body[-40:]
        assert mock.wiretap.limits_hit == 0

    asyncio.run(run())


def test_an_exchange_tells_all_that_went_over_the_wire() -> None:
    async def run() -> Exchange:
        async with MockLLM() as mock:
            async with httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
                headers = [("X-Twice", "1"), ("X-Twice", "2"), ("Authorization", "Bearer sk-secret-1")]
                answer = await client.post(
                    "/chat/completions?k=v&api_key=sk-secret-2", json=_chat("hi"), headers=headers
                )
            [exchange] = mock.wiretap.exchanges()
            await asyncio.sleep(0.05)
            [closed] = mock.wiretap.exchanges()
        assert exchange.method == "POST"
        assert exchange.target.startswith("/v1/chat/completions?k=v&api_key=#")
        assert [value for name, value in exchange.headers if name == "X-Twice"] == ["1", "2"]
        assert json.loads(exchange.body) == _chat("hi")
        assert exchange.answer.endswith(answer.content)
        assert exchange.answered == exchange.written == len(exchange.answer)
        assert exchange.delivered
        assert exchange.complete
        assert (exchange.api, exchange.fault, exchange.scope) == ("chat", "steady", "-")
        assert exchange.received is not None
        assert exchange.answered_at is not None
        assert exchange.began <= exchange.received <= exchange.answered_at
        assert (closed.closed_first, closed.closed_at is not None) == ("client", True)
        return exchange

    exchange = asyncio.run(run())
    assert "sk-secret" not in repr(exchange)
    assert exchange.key
    assert len(exchange.key) == 24


def test_connections_are_told_apart_and_numbers_follow_arrival() -> None:
    async def run() -> None:
        async with MockLLM() as mock:
            for _ in range(2):
                async with httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
                    for _ in range(2):
                        await client.post("/chat/completions", json=_chat("hi"))
            exchanges = mock.wiretap.exchanges()
        assert [exchange.number for exchange in exchanges] == [1, 2, 3, 4]
        assert [exchange.connection for exchange in exchanges] == [1, 1, 2, 2]
        assert exchanges[0].headers == exchanges[1].headers
        assert "content-length" in {name.lower() for name, _ in exchanges[1].headers}
        assert exchanges[0].peer_port == exchanges[1].peer_port != exchanges[2].peer_port

    asyncio.run(run())


def test_waiting_ends_with_the_exchange_or_with_the_time() -> None:
    async def run() -> None:
        async with MockLLM() as mock, httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
            waiting = asyncio.create_task(mock.wiretap.wait_for(2, 5))
            for _ in range(2):
                assert not waiting.done()
                await client.get("/models")
            assert len(await waiting) == 2
            with pytest.raises(TimeoutError, match="2 of 3"):
                await mock.wiretap.wait_for(3, 0.02)

    asyncio.run(run())


def test_a_watcher_hears_of_each_request_before_it_is_answered() -> None:
    async def run() -> None:
        heard: list[tuple[int, int]] = []
        async with MockLLM() as mock, httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
            mock.wiretap.watch(lambda number: heard.append((number, mock.wiretap.exchanges()[-1].answered)))
            await client.get("/models")
            await client.get("/models")
        assert heard == [(1, 0), (2, 0)]

    asyncio.run(run())


def test_the_journal_holds_every_exchange_and_gives_them_back(tmp_path: Path) -> None:
    async def run() -> tuple[Exchange, ...]:
        async with MockLLM(journal=tmp_path / "tap") as mock:
            mock.wiretap._kept = 2_000
            async with httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
                for number in range(20):
                    headers = {"authorization": "Bearer sk-secret"}
                    await client.post("/chat/completions", json=_chat(f"q{number} é"), headers=headers)
                await client.post("/chat/completions", content=b"\xff")
        assert len(mock.wiretap._records) < 10
        return mock.wiretap.exchanges()

    exchanges = asyncio.run(run())
    written = [from_json(line) for line in verify(tmp_path / "tap")]
    assert [exchange.number for exchange in exchanges] == list(range(1, 22))
    assert written == list(exchanges)
    assert exchanges[20].body == b"\xff"
    assert b"sk-secret" not in (tmp_path / "tap").read_bytes()


@pytest.mark.parametrize("change", ["flip", "drop", "swap", "cut"])
def test_a_journal_that_was_touched_is_refused(tmp_path: Path, change: str) -> None:
    async def run() -> None:
        async with MockLLM(journal=tmp_path / "tap") as mock, httpx.AsyncClient(trust_env=False) as client:
            for _ in range(3):
                await client.get(mock.base_url + "/models")

    asyncio.run(run())
    lines = (tmp_path / "tap").read_bytes().splitlines(keepends=True)
    assert len(list(verify(tmp_path / "tap"))) == len(lines) == 3
    if change == "flip":
        lines[1] = lines[1].replace(b"models", b"modelz")
    elif change == "drop":
        del lines[0]
    elif change == "swap":
        lines[0], lines[1] = lines[1], lines[0]
    else:
        lines[2] = lines[2][:-5]
    (tmp_path / "tap").write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match="line"):
        list(verify(tmp_path / "tap"))


def test_a_journal_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "tap").write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        MockLLM(journal=tmp_path / "tap")
    assert (tmp_path / "tap").read_text() == "mine"


def test_one_exchange_is_read_by_its_number_whether_held_or_written_away(tmp_path: Path) -> None:
    async def run() -> None:
        async with MockLLM(journal=tmp_path / "tap") as mock:
            mock.wiretap._kept = 1_000
            async with httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
                for number in range(12):
                    await client.post("/chat/completions", json=_chat(f"q{number}"))
            assert 1 not in mock.wiretap._records
            assert [mock.wiretap.exchange(number).body for number in (1, 12)] == [
                json.dumps(_chat(f"q{number}"), separators=(",", ":")).encode() for number in (0, 11)
            ]
            for number in (0, 13):
                with pytest.raises(KeyError):
                    mock.wiretap.exchange(number)

    asyncio.run(run())
