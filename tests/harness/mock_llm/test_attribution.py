"""A prompt belongs to the probe whose trace it holds, and evidence that disagrees is told."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from partywall.harness.mock_llm import Attribution, Flight, MockLLM, attribute, tag
from partywall.harness.mock_llm.keys import Owner

ANN = ("acme", "ann", "s1", "")
BOB = ("zeta", "bob", "s1", "")
P1, P2, P3 = Flight("p1", ANN, ANN), Flight("p2", BOB, BOB), Flight("p3", ANN, ("acme", "ann", "s2", ""))


@dataclass
class Seen:
    body: bytes = b"{}"
    target: str = "/v1/chat/completions"
    headers: tuple[tuple[str, str], ...] = ()
    owner: Owner | None = None
    path_scope: str | None = None


def _said(text: str, **more: Any) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}], **more}).encode()


@pytest.mark.parametrize(
    ("seen", "flights", "expected"),
    [
        (Seen(), (), Attribution(None, (), False, "none")),
        (Seen(), (P1,), Attribution("p1", ("p1",), False, "sole")),
        (Seen(), (P1, P2), Attribution(None, ("p1", "p2"), False, "none")),
        (Seen(_said("hi [pw:p2]")), (P1, P2), Attribution("p2", ("p2",), False, "tag")),
        (Seen(_said("old [pw:p0] and [pw:p2]")), (P1, P2), Attribution("p2", ("p2",), False, "tag")),
        (Seen(_said("old [pw:p0]")), (P1, P2), Attribution(None, ("p1", "p2"), False, "none")),
        (Seen(_said("[pw:p1] [pw:p3]")), (P1, P2, P3), Attribution(None, ("p1", "p3"), False, "tag")),
        (Seen(_said("[pw:p1] [pw:p2]")), (P1, P2), Attribution(None, ("p1", "p2"), True, "tag")),
        (Seen(owner=("acme", "ann")), (P1, P2), Attribution("p1", ("p1",), False, "key")),
        (Seen(owner=("acme", "ann")), (P1, P2, P3), Attribution(None, ("p1", "p3"), False, "key")),
        (Seen(_said("[pw:p3]"), owner=("acme", "ann")), (P1, P2, P3), Attribution("p3", ("p3",), False, "tag")),
        (Seen(_said("[pw:p2]"), owner=("acme", "ann")), (P1, P2), Attribution("p1", ("p1",), True, "key")),
        (Seen(_said("[pw:p2]"), owner=("acme", "cy")), (P1, P2), Attribution(None, (), True, "key")),
        (Seen(path_scope="zeta/bob"), (P1, P2), Attribution("p2", ("p2",), False, "path")),
        (Seen(path_scope="zeta", owner=("acme",)), (P1, P2), Attribution("p1", ("p1",), True, "key")),
        (Seen(path_scope="acme/ann", owner=("acme",)), (P1, P2), Attribution("p1", ("p1",), False, "path")),
        (Seen(path_scope="no/one"), (P1,), Attribution(None, (), False, "path")),
        (Seen(headers=(("X-Partywall-Probe", "p2"),)), (P1, P2), Attribution("p2", ("p2",), False, "header")),
        (Seen(_said("hi", user="p2")), (P1, P2), Attribution("p2", ("p2",), False, "body")),
        (Seen(_said("hi", metadata={"probe": "p2"})), (P1, P2), Attribution("p2", ("p2",), False, "body")),
        (Seen(_said("[pw:p1]", user="p2")), (P1, P2), Attribution("p2", ("p2",), True, "body")),
        (Seen(_said("hi \\u005bpw:p2]").replace(b"\\\\u", b"\\u")), (P1, P2), Attribution("p2", ("p2",), False, "tag")),
        (Seen(b"not json [pw:p2]"), (P1, P2), Attribution("p2", ("p2",), False, "tag")),
    ],
)
def test_evidence_is_weighed_in_order(seen: Seen, flights: tuple[Flight, ...], expected: Attribution) -> None:
    found = attribute(seen, flights)
    if expected.how == "path" and seen.owner:
        assert found.probe == expected.probe
        assert not found.disagreement
    else:
        assert found == expected


def test_a_probe_that_addresses_another_scope_is_still_its_callers() -> None:
    thief = Flight("p9", ANN, BOB)
    assert attribute(Seen(owner=("acme", "ann")), (thief, P2)).probe == "p9"
    assert attribute(Seen(owner=("zeta", "bob")), (thief, P2)).probe == "p2"
    assert attribute(Seen(owner=("zeta", "bob")), (thief,)).probe == "p9"


def test_the_table_as_it_was_when_the_request_came_in_decides() -> None:
    async def run() -> None:
        async with MockLLM(api_keys={"sk-ann": ANN[:2]}) as mock:
            async with httpx.AsyncClient(base_url=mock.base_url, trust_env=False) as client:
                mock.in_flight.enter("p1", ANN, ANN)
                mock.in_flight.enter("p2", BOB, BOB)
                await client.post("/chat/completions", content=_said("q " + tag("p2")))
                mock.in_flight.leave("p2")
                await client.post("/chat/completions", content=_said("q " + tag("p2")))
                mock.in_flight.enter("p2", BOB, BOB)
                key = {"authorization": "Bearer sk-ann"}
                await client.post("/chat/completions", content=_said("q"), headers=key)
                await client.post("/chat/completions", content=_said("q"), headers={"x-api-key": "sk-shared"})
                path = httpx.URL(mock.base_url_for(BOB)).raw_path.decode()
                await client.post(f"http://127.0.0.1:{mock.port}{path}/chat/completions", content=_said("q"))
            found = [attribute(exchange, exchange.in_flight) for exchange in mock.wiretap.exchanges()]
            scopes = [exchange.scope for exchange in mock.wiretap.exchanges()]
        assert [one.probe for one in found] == ["p2", "p1", "p1", None, "p2"]
        assert [one.how for one in found] == ["tag", "sole", "key", "none", "path"]
        assert scopes == ["-", "-", "acme/ann", "-", "zeta/bob/s1"]

    asyncio.run(run())


def test_a_key_given_to_two_identities_names_neither() -> None:
    async def run() -> None:
        async with MockLLM(api_keys={"sk": ANN[:2]}) as mock, httpx.AsyncClient(trust_env=False) as client:
            for path in (ANN[:2], BOB[:2]):
                mock.register("sk", path)
                await client.get(mock.base_url + "/models", headers={"authorization": "Bearer sk"})
            assert [exchange.owner for exchange in mock.wiretap.exchanges()] == [("acme", "ann"), None]

    asyncio.run(run())


def test_awkward_ids_survive_the_base_url() -> None:
    async def run() -> None:
        awkward = ("a/b", "ü %2F", "s?#", "·")
        async with MockLLM() as mock, httpx.AsyncClient(trust_env=False) as client:
            mock.in_flight.enter("p1", awkward, awkward)
            mock.in_flight.enter("p2", ("a", "b", "ü", ""), ("a", "b", "ü", ""))
            await client.post(mock.base_url_for(awkward) + "/chat/completions", content=_said("q"))
            [exchange] = mock.wiretap.exchanges()
        assert attribute(exchange, exchange.in_flight).probe == "p1"

    asyncio.run(run())
