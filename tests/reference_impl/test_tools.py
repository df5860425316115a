"""Every tool call passes one gate: name, schema and arguments of all calls, before any of them does anything."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from partywall.reference_impl.guard import holds_secret, is_data
from partywall.reference_impl.llm import Offer, Said, ToolCall
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.session_context import SessionContext

from .deployment import Deploy, Deployment, Echo

ANN, BOB = ("acme", "ann", "s1", "k1"), ("acme", "bob", "s1", "k1")


class Calling(Echo):
    """Answers with these calls wherever tools are on offer, and keeps what was offered."""

    calls: ClassVar[list[ToolCall]] = []
    offers: ClassVar[list[tuple[str, ...]]] = []

    async def say(self, context: SessionContext, offered: Any = ()) -> Said:
        self.offers.append(tuple(offer.name for offer in offered))
        return Said("", tuple(self.calls))


@pytest.fixture
def agent(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    monkeypatch.setattr(Calling, "calls", [])
    monkeypatch.setattr(Calling, "offers", [])
    return deploy(replace(Parts(), model=Calling))


def _call(name: str, arguments: object) -> ToolCall:
    return ToolCall(name, arguments if isinstance(arguments, str) else json.dumps(arguments))


def _turn(agent: Deployment, *calls: ToolCall, text: str = "remember and delete", **more: Any) -> dict[str, Any]:
    Calling.calls[:] = calls
    answer: dict[str, Any] = agent.value("run_turn", ANN, text=text, **more)
    return answer


def test_a_fact_is_noted_in_the_session_of_the_one_who_asked(agent: Deployment) -> None:
    turn = _turn(agent, _call("remember", {"name": "seat", "value": "aisle"}))
    assert (turn["text"], turn["llm_used"], turn["guidance"]) == ("I have noted it.", True, None)
    assert turn["tool_calls"] == [{"tool": "remember", "count": 1}]
    [fact] = agent.value("list_facts", ANN)
    assert (fact["key"], fact["value"], fact["layer"], fact["source_turn"]) == ("seat", "aisle", "session", 1)
    assert agent.value("list_facts", BOB) == []


def test_only_what_the_limits_name_is_deleted_and_nobody_elses(agent: Deployment) -> None:
    ids = [agent.value("add_memory", ANN, text=text) for text in ("tea at four", "tea at five", "coffee")]
    foreign = agent.value("add_memory", BOB, text="tea with bob")
    turn = _turn(agent, _call("delete_memory", {"ids": [*ids[1:], foreign], "where": "tea"}))
    assert turn["text"] == "I have deleted 1 memories."
    assert [each["text"] for each in agent.value("list_memories", ANN)] == ["tea at four", "coffee"]
    assert len(agent.value("list_memories", BOB)) == 1


def test_the_ledger_tells_what_tools_did_and_holds_no_content(agent: Deployment) -> None:
    _turn(agent, _call("remember", {"name": "seat", "value": "a window of one's own"}))
    [line] = agent.view("side_effects")
    assert (line["event"], line["tool"], line["count"]) == ("tool", "remember", 1)
    assert "window" not in str(line)
    assert "ann" not in str(line["scope"])
    agent.value("purge", ANN, level="user")
    assert agent.view("side_effects") == []


REFUSED = {
    "a tool that does not exist": _call("erase_all_memories", {"user": "everyone"}),
    "a tool under a prefix": _call("functions.delete_memory", {"where": "tea"}),
    "a name in capitals": _call("Delete_Memory", {"where": "tea"}),
    "no name": _call("", {"where": "tea"}),
    "arguments that were cut": _call("delete_memory", '{"ids": ["m1"], "whe'),
    "no arguments": _call("delete_memory", ""),
    "null": _call("delete_memory", "null"),
    "an empty object": _call("delete_memory", "{}"),
    "filters of null": _call("delete_memory", {"ids": None, "where": None}),
    "a filter of nothing": _call("delete_memory", {"where": ""}),
    "no ids": _call("delete_memory", {"ids": []}),
    "two objects": _call("delete_memory", '{"where":"tea"}{"where":""}'),
    "a text of JSON": _call("delete_memory", '"{\\"where\\": \\"tea\\"}"'),
    "a key twice": _call("delete_memory", '{"where": "x", "where": "tea"}'),
    "a number for a text": _call("delete_memory", {"where": 1}),
    "another's user": _call("delete_memory", {"where": "tea", "user": "bob"}),
    "another's tenant": _call("remember", {"name": "a", "value": "b", "tenant_id": "zeta"}),
    "not a number": _call("remember", '{"name": "a", "value": NaN}'),
    "a lone surrogate": _call("remember", '{"name": "a", "value": "\\ud83d"}'),
    "blanks": _call("remember", {"name": " ", "value": "b"}),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_call_that_is_not_as_it_must_be_is_refused_and_so_is_the_good_one_before_it(
    agent: Deployment, what: str
) -> None:
    agent.value("add_memory", ANN, text="tea at four")
    good = _call("remember", {"name": "seat", "value": "aisle"})
    turn = _turn(agent, good, REFUSED[what])
    assert (turn["llm_used"], turn["guidance"]["type"]) == (False, "model_output_invalid")
    assert turn["tool_calls"] == []
    assert len(agent.value("list_memories", ANN)) == 1
    assert agent.value("list_facts", ANN) == []
    assert agent.view("side_effects") == []
    assert [each["role"] for each in agent.value("list_turns", ANN)] == ["user"]


def test_more_calls_than_one_answer_may_hold_are_refused(agent: Deployment) -> None:
    calls = [_call("remember", {"name": f"n{number}", "value": "x"}) for number in range(9)]
    assert _turn(agent, *calls)["llm_used"] is False
    assert agent.value("list_facts", ANN) == []


def test_a_tool_is_offered_only_where_the_users_words_ask_for_it(agent: Deployment) -> None:
    note = _call("remember", {"name": "seat", "value": "aisle"})
    assert _turn(agent, note, text="what do you know?")["text"].startswith("noted: ")
    assert _turn(agent, note, text="please remember my seat")["llm_used"] is True
    delete = _call("delete_memory", {"where": "tea"})
    assert _turn(agent, delete, text="please remember my tea")["guidance"]["type"] == "model_output_invalid"
    assert _turn(agent, delete, text="forget my tea")["llm_used"] is True
    assert Calling.offers == [("remember",), ("remember",), ("delete_memory",)]


def test_a_request_delivered_again_acts_once(agent: Deployment) -> None:
    note = _call("remember", {"name": "seat", "value": "aisle"})
    first = _turn(agent, note, request_id="r1")
    again = _turn(agent, note, request_id="r1")
    assert again["text"] == first["text"]
    assert len(agent.view("side_effects")) == 1


def test_no_schema_has_a_place_for_an_identity() -> None:
    offers: tuple[Offer, ...] = Parts().tools.offered(None, "remember and delete")  # type: ignore[arg-type]
    names = {name for offer in offers for name in offer.record()["function"]["parameters"]["properties"]}
    assert names == {"name", "value", "ids", "where"}


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abc",
        "bearer abcdefghijklmnop0123",
        "use sk-live-0123456789abcdef",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_a_credential_is_known_by_its_shape(text: str) -> None:
    assert holds_secret(f"so it is: {text}.")


@pytest.mark.parametrize(
    "text", ["a token of my love", "the bearer of bad news", "basic needs", "task-based", "desk-0"]
)
def test_words_about_credentials_are_none(text: str) -> None:
    assert not holds_secret(text)


@pytest.mark.parametrize(
    "text", ['{"facts": ["a", ]', " [1]", '```json\n{"a": 1}\n```', "```\n[", '\n{"label": "maybe"}']
)
def test_data_is_no_answer(text: str) -> None:
    assert is_data(text)


@pytest.mark.parametrize("text", ["All is well.", "Use f(x) = {x}.", "```python\nprint()\n```", "json"])
def test_words_are_no_data(text: str) -> None:
    assert not is_data(text)
