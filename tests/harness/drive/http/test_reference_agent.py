"""The bundled agent, driven whole by its shipped profile: every answer has the contract's shape."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from partywall.canaries import Scope
from partywall.harness.drive.http import HttpTarget, load_profile, shipped_profile
from partywall.harness.observe.outcome import Outcome
from partywall.harness.plan.contract import conform
from partywall.harness.plan.identity import Address, Identity
from partywall.harness.plan.probe import Call, Credential
from partywall.reference_impl.app import create_app
from partywall.reference_impl.llm import ChatModel
from partywall.reference_impl.parts import Parts, System, compose
from partywall.reference_impl.session_context import SessionContext
from partywall.reference_impl.settings import Settings

from .profiles import ANN, BOB, HOME, a_call

KEY = "a key for tests, long enough to sign with"


class Parrot(ChatModel):
    """Repeats the last thing it was told."""

    async def chat(self, context: SessionContext) -> str:
        return "noted: " + context.messages()[-1]["content"]


class Agent:
    """The agent in this process, and one client of the harness."""

    def __init__(self, system: System) -> None:
        profile = load_profile(shipped_profile("reference-agent"), {"PARTYWALL_TOKEN_KEY": KEY})
        self._system = system
        self._runner = asyncio.Runner()
        self._target = HttpTarget(profile, transport=httpx.ASGITransport(create_app(system)))
        self._client = self._runner.run(self._target.connect(ANN))

    def ask(self, op: str, caller: Identity = ANN, at: Scope | Address = HOME, **arguments: Any) -> Outcome:
        call = Call(op, caller, at, arguments, timeout=60.0)
        return self.send(call)

    def send(self, call: Call) -> Outcome:
        outcome = self._runner.run(self._client.invoke(call))
        if outcome.status == "ok":
            conform(call.op, outcome.value)
        return outcome

    def value(self, op: str, **arguments: Any) -> Any:
        outcome = self.ask(op, **arguments)
        assert outcome.status == "ok", outcome
        return outcome.value

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.run(self._system.aclose())
        self._runner.close()


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    given = {"data": tmp_path / "d", "model_url": "http://model.invalid/v1", "token_key": KEY, "mark_key": KEY}
    made = Agent(compose(Settings.model_validate(given), Parts(model=Parrot)))
    yield made
    made.close()


def test_turns_are_written_and_read(agent: Agent) -> None:
    assert agent.value("create_session", carry_from=None) == "s1"
    assert agent.value("append_turn", text="first") == {"turn": 1, "version": 1}
    assert agent.value("run_turn", text="second")["text"].startswith("noted: ")
    turns = agent.value("list_turns")
    assert [turn["text"] for turn in turns][:2] == ["first", "second"]
    assert agent.value("session_info")["state"] == "active"
    assert agent.value("list_sessions") == ["s1"]
    assert agent.value("context", query="x")


def test_a_request_id_and_a_version_reach_the_agent(agent: Agent) -> None:
    call = replace(a_call("append_turn", text="once"), request_id="r1", timeout=60.0)
    assert agent.send(call).value == agent.send(call).value == {"turn": 1, "version": 1}
    assert agent.ask("append_turn", text="late", expected_version=0).code == "conflict"


def test_memories_facts_and_artifacts_are_written_and_read(agent: Agent) -> None:
    memory = agent.value("add_memory", text="likes tea")
    assert agent.value("get_memory", memory_id=memory)["text"] == "likes tea"
    assert agent.value("search_memory", query="tea") == agent.value("list_memories")
    agent.value("put_fact", key="drink", value={"name": "tea", "hot": True}, layer="user")
    assert agent.value("get_fact", key="drink")["value"] == {"name": "tea", "hot": True}
    assert len(agent.value("list_facts")) == 1
    agent.value("put_artifact", name="a/b.md", text="text")
    assert (agent.value("list_artifacts"), agent.value("get_artifact", name="a/b.md")) == (["a/b.md"], "text")
    assert "tea" in agent.value("cached_answer", query="which tea?")
    for op, arguments in {"delete_fact": {"key": "drink"}, "delete_memory": {"memory_id": memory}}.items():
        agent.value(op, **arguments)
    assert agent.value("purge", level="user")["done"] is True
    assert agent.value("list_memories") == []


def test_operator_views_are_asked_for_as_the_operator(agent: Agent) -> None:
    agent.value("append_turn", text="a word at rest")
    assert any("a word at rest" in text for text in agent.value("stored_bytes")["main"])
    assert set(agent.value("stored_keys")) == {"main", "cache", "index", "log", "objects", "locks", "rates"}
    assert agent.value("side_effects") == []
    assert agent.value("read_log")
    assert "partywall_" in agent.value("metrics")


@pytest.mark.parametrize("credential", ["none", "expired"])
def test_no_proof_and_an_old_proof_are_refused(agent: Agent, credential: Credential) -> None:
    outcome = agent.send(replace(a_call("list_turns"), credential=credential))
    assert (outcome.status, outcome.code) == ("fail", "denied")


def test_a_stranger_and_an_address_without_a_user_are_refused(agent: Agent) -> None:
    assert agent.ask("list_turns", BOB).code == "denied"
    assert agent.ask("list_turns", ANN, Address("acme", None, "s1", "k1")).code == "invalid"
    assert agent.ask("purge", Identity("ops", "ops", "user"), level="tenant").code == "denied"
    boss = Identity("acme", "boss", "admin")
    assert agent.ask("purge", boss, Address("acme", "boss"), level="tenant").status == "ok"


def test_a_body_that_is_too_large_was_surely_not_applied(agent: Agent) -> None:
    assert agent.ask("append_turn", text="x" * 1_100_000).status == "fail"
