"""What goes over the wire for a call, and what its answer comes to."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from partywall.harness.drive.http import HttpTarget, Profile
from partywall.harness.observe.outcome import UNSENT, Outcome
from partywall.harness.plan.identity import Address
from partywall.harness.plan.probe import Call

from .profiles import ANN, BOB, a_call, asked, small
from .wire import Received, Server, always, whole

ALL_KINDS = """
defaults: {headers: {X-Default: d, X-Both: d}}
operations:
  run_turn:
    request:
      method: PUT
      path: "/s/{{session}}/turns"
      query: {q: ["{{task}}", b], r: "{{request_id?}}"}
      headers: {X-Both: o, X-Session: "{{session}}"}
      json: {text: "{{text}}", id: "{{request_id?}}", nested: [{t: "{{tenant}}-x"}]}
    response: {text: /reply}
  append_turn:
    request: {path: /form, form: {text: "{{text}}", role: "{{role}}", v: "{{expected_version?}}"}}
  list_turns:
    request: {method: GET, path: /turns}
    response: {items: /turns, text: "", order: desc}
"""


def exchange(
    operations: str, *calls: Call, answer: bytes = whole(), **more: Any
) -> tuple[list[Received], list[Outcome]]:
    async def run() -> tuple[list[Received], list[Outcome]]:
        async with Server(always(answer)) as server:
            profile: Profile = small(url=server.url, operations=operations, **more)
            return server.requests, await asked(profile, *calls)

    return asyncio.run(run())


RUN = 'operations: {run_turn: {request: {path: /t, json: {text: "{{text}}"}}, response: {text: /reply}%s}}'


def answered(answer: bytes, extra: str = "") -> Outcome:
    _, [outcome] = exchange(RUN % extra, a_call(), answer=answer)
    return outcome


def test_a_request_is_filled_by_structure() -> None:
    text = 'quote " and {{brace}} and 😀 \ud800'
    [request], [outcome] = exchange(ALL_KINDS, a_call(text=text))
    assert outcome == Outcome("ok", "ok")
    assert (request.method, request.target) == ("PUT", "/s/s1/turns?q=k1&q=b")
    assert request.json == {"text": text, "nested": [{"t": "acme-x"}]}
    assert request.headers["content-type"] == "application/json"
    assert [request.headers[name] for name in ("x-default", "x-both", "x-session")] == ["d", "o", "s1"]
    assert request.headers["accept-encoding"] == "identity"


def test_a_request_id_stands_wherever_the_profile_puts_it() -> None:
    [request], _ = exchange(ALL_KINDS, replace(a_call(), request_id="r/1"))
    assert request.target.endswith("&r=r%2F1")
    assert request.json["id"] == "r/1"


def test_awkward_ids_stay_apart_in_the_path() -> None:
    ids = ["..", "a/b", "a%2Fb", "", "%", "ü", "\x00", "a?b", "a#b", "u1", "u1 "]
    requests, outcomes = exchange(
        ALL_KINDS.replace(', X-Session: "{{session}}"', ""),
        *(a_call(at=Address("acme", "ann", id, "k")) for id in ids),
    )
    assert all(outcome.status == "ok" for outcome in outcomes)
    targets = [request.target.partition("?")[0] for request in requests]
    assert len(set(targets)) == len(ids)
    assert all(target.startswith("/s/") and target.endswith("/turns") for target in targets)
    assert targets[0] == "/s/%2E%2E/turns"


@pytest.mark.parametrize("session", [None, "a\nb", "s1 "])
def test_an_id_that_has_no_place_is_not_sent(session: str | None) -> None:
    requests, [outcome] = exchange(ALL_KINDS, a_call(at=Address("acme", "ann", session, "k")))
    assert (requests, outcome.status, outcome.code) == ([], "fail", UNSENT)


def test_a_form_is_encoded() -> None:
    [request], [outcome] = exchange(ALL_KINDS, a_call("append_turn", text="a&b=c", role="user", expected_version=None))
    assert (request.body, outcome) == (b"text=a%26b%3Dc&role=user", Outcome("ok"))


def test_arguments_that_were_not_given_have_the_contracts_defaults() -> None:
    [request], _ = exchange(ALL_KINDS, a_call("append_turn", text="x"))
    assert request.body == b"text=x&role=user"


def test_a_get_has_no_body_and_its_list_is_turned_round() -> None:
    [request], [outcome] = exchange(ALL_KINDS, a_call("list_turns"), answer=whole('{"turns": ["b", "a"]}'))
    assert (request.method, request.body, outcome.value) == ("GET", b"", ["a", "b"])
    assert "content-type" not in request.headers


def test_an_operation_that_the_profile_lacks_is_not_implemented() -> None:
    _, [outcome] = exchange(ALL_KINDS, a_call("purge", level="user"))
    assert (outcome.status, outcome.code) == ("fail", "not_implemented")


def test_a_refusal_tells_its_body() -> None:
    outcome = answered(whole('{"detail": "not yours"}', "403 Forbidden"))
    assert outcome == Outcome("fail", reason='HTTP 403: {"detail": "not yours"}', code="denied")


def test_a_reason_is_cut() -> None:
    assert len(answered(whole("x" * 10_000, "500 Oh")).reason) == 2_000


@pytest.mark.parametrize(
    ("answer", "extra", "reason"),
    [
        (whole("<html>welcome</html>", kind="text/html"), "", "HTTP 200: the answer is no JSON: <html>welcome</html>"),
        (whole(""), "", "HTTP 200: the answer is no JSON"),
        (whole("", "204 No Content"), "", "HTTP 204: the answer is no JSON"),
        (whole("{}"), "", "HTTP 200: nothing at /reply: {}"),
        (whole("[" * 200_000), "", "HTTP 200: the answer is nested too deeply: " + "[" * 1957),
        (whole("{}"), ", ok_when: {present: /reply}", "HTTP 200: nothing at /reply: {}"),
        (whole('{"reply":"x","e":1}'), ", ok_when: {absent: /e}", 'HTTP 200: something at /e: {"reply":"x","e":1}'),
        (whole('{"reply":"x"}', "202 Accepted"), ", ok_status: 200", 'HTTP 202: {"reply":"x"}'),
    ],
)
def test_an_answer_that_does_not_say_what_it_should_is_unknown(answer: bytes, extra: str, reason: str) -> None:
    outcome = answered(answer, extra)
    assert (outcome.status, outcome.reason[:2000]) == ("info", reason[:2000])


def test_json_under_another_content_type_is_json() -> None:
    assert answered(whole('\ufeff{"reply": "x"}', kind="text/plain")) == Outcome("ok", "x")


def test_bytes_that_are_no_utf_8_are_escaped() -> None:
    assert answered(whole(b'{"reply": "a\xff\xfeb"}')) == Outcome("ok", "a\\udcff\\udcfeb")


def test_numbers_that_json_does_not_know_are_texts() -> None:
    assert answered(whole('{"reply": "x", "n": NaN}')) == Outcome("ok", "x")


def test_an_acknowledgement_may_have_any_body() -> None:
    _, [outcome] = exchange(ALL_KINDS, a_call("append_turn", text="x"), answer=whole("OK", kind="text/plain"))
    assert outcome == Outcome("ok")


def test_each_identity_has_cookies_and_connections_of_its_own() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(whole('{"reply": "ok"}', "200 OK", f"set-cookie: of=connection-{request.connection}"))

    async def run() -> None:
        async with Server(answer) as server:
            target = HttpTarget(small('identities: {"*": {headers: {X-Api-Key: "{{identity.user}}"}}}', url=server.url))
            ann, bob = await target.connect(ANN), await target.connect(BOB)
            for _ in range(2):
                await ann.invoke(a_call())
                await bob.invoke(a_call(caller=BOB))
            await ann.invoke(replace(a_call(), credential="none"))
            await ann.aclose()
            await bob.aclose()
            seen = [(request.connection, request.headers.get("cookie")) for request in server.requests]
            assert seen == [(1, None), (2, None), (1, "of=connection-1"), (2, "of=connection-2"), (3, None)]

    asyncio.run(run())


def test_hooks_surround_each_call() -> None:
    told: list[str] = []

    class Hooked(HttpTarget):
        async def before(self, call: Call) -> Call:
            told.append("before")
            return replace(call, arguments={"text": "changed"})

        async def after(self, call: Call) -> None:
            told.append(f"after {call.arguments['text']}")

    async def run() -> None:
        async with Server() as server:
            target = Hooked(small(url=server.url))
            client = await target.connect(ANN)
            await client.invoke(a_call())
            assert server.requests[0].json["text"] == "changed"
            await server.stop()
            with pytest.raises(Exception, match=r"no connection|Server disconnected"):
                await client.invoke(a_call()) and await client.invoke(a_call())
            await client.aclose()

    asyncio.run(run())
    assert told[:2] == ["before", "after changed"]
    assert told.count("before") == len(told) / 2


@pytest.mark.parametrize(("limits", "seconds"), [("{concurrency: 1}", 0.3), ("{rps: 10}", 0.3), ("{}", 0.1)])
def test_limits_hold_for_all_clients_together(limits: str, seconds: float) -> None:
    async def slow(_: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(whole())

    async def run() -> float:
        async with Server(slow) as server:
            target = HttpTarget(small(f"limits: {limits}", url=server.url))
            clients = [await target.connect(ANN) for _ in range(4)]
            began = time.monotonic()
            outcomes = await asyncio.gather(*(client.invoke(a_call()) for client in clients))
            assert all(outcome.status == "ok" for outcome in outcomes)
            for client in clients:
                await client.aclose()
            return time.monotonic() - began

    assert asyncio.run(run()) >= seconds


def test_a_turn_that_does_not_come_in_time_is_surely_not_sent() -> None:
    async def slow(_: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(10)
        writer.write(whole())

    async def run() -> None:
        async with Server(slow) as server:
            target = HttpTarget(small("limits: {concurrency: 1}", url=server.url))
            client = await target.connect(ANN)
            calls = replace(a_call(), timeout=3.0), replace(a_call(), timeout=0.2)
            first, second = await asyncio.gather(*map(client.invoke, calls))
            assert (first.status, first.code, second.status, second.code) == ("info", "timeout", "fail", UNSENT)
            assert len(server.requests) == 1
            await client.aclose()

    asyncio.run(run())


def test_secrets_are_redacted_wherever_the_target_echoes_them() -> None:
    async def echo(request: Received, writer: asyncio.StreamWriter) -> None:
        status = "500 Oh" if request.json["text"] == "fail" else "200 OK"
        writer.write(whole(json.dumps({"reply": request.headers["authorization"]}), status))

    async def run() -> None:
        async with Server(echo) as server:
            identities = 'identities: {"*": {auth: {type: bearer, token: "${T}"}}}'
            profile = small(identities, url=server.url, environment={"T": "s3cret/of+mine"})
            told, failed = await asked(profile, a_call(), a_call(text="fail"))
            assert told.value == "Bearer [redacted]"
            assert failed.reason == 'HTTP 500: {"reply": "Bearer [redacted]"}'

    asyncio.run(run())
