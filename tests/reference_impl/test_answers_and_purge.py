"""Cached answers follow what they rest on; a purge leaves nothing in any place, and nothing comes back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from partywall.canaries import Level, Scope
from partywall.reference_impl.context import Assembler
from partywall.reference_impl.keys import Keys
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.purge import PLACES, Purge
from partywall.reference_impl.session_context import SessionContext
from partywall.reference_impl.store.sessions import SqlSessions

from .deployment import Deploy, Deployment, Echo

ANN = ("acme", "ann", "s1", "k1")
BOB = ("acme", "bob", "s1", "k1")
WORD = "hapaxlegomenon"


def _sow(deployment: Deployment, at: tuple[str, ...], word: str = WORD) -> None:
    deployment.value("run_turn", at, text=f"{word} turn")
    deployment.value("add_memory", at, text=f"{word} memory")
    for layer in ("user", "session", "task"):
        deployment.value("put_fact", at, key=layer, value=f"{word} {layer}", layer=layer)
    deployment.value("put_artifact", at, name=word, text=word)
    deployment.value("cached_answer", at, query="what is known?")


def test_the_model_is_asked_once_for_a_question(reference: Deployment) -> None:
    first = reference.value("cached_answer", ANN, query="what?")
    assert reference.value("cached_answer", ANN, query="what?") == first
    assert len(reference.prompts) == 1
    reference.value("cached_answer", ANN, query="what else?")
    assert len(reference.prompts) == 2


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("append_turn", {"text": "new"}),
        ("add_memory", {"text": "new"}),
        ("put_fact", {"key": "a", "value": "new", "layer": "user"}),
        ("put_fact", {"key": "a", "value": "new", "layer": "session"}),
        ("put_fact", {"key": "a", "value": "new", "layer": "task"}),
    ],
)
def test_a_cached_answer_ends_with_what_it_rests_on(reference: Deployment, name: str, body: Any) -> None:
    reference.value("cached_answer", ANN, query="what?")
    reference.value("cached_answer", BOB, query="what?")
    reference.value(name, ANN, **body)
    assert "new" in reference.value("cached_answer", ANN, query="what?")
    reference.value("cached_answer", BOB, query="what?")
    assert len(reference.prompts) == 3


def test_what_was_deleted_is_in_no_cached_answer(reference: Deployment) -> None:
    memory = reference.value("add_memory", ANN, text=WORD)
    reference.value("put_fact", ANN, key="a", value=WORD, layer="session")
    assert WORD in reference.value("cached_answer", ANN, query="what?")
    reference.value("delete_memory", ANN, memory_id=memory)
    reference.value("delete_fact", ANN, key="a")
    assert WORD not in reference.value("cached_answer", ANN, query="what?")
    assert reference.post("delete_fact", ANN, key="a").status_code == 404


def test_an_answer_begun_before_a_change_is_not_kept_after_it(deploy: Deploy) -> None:
    class Slow(Echo):
        begun = asyncio.Event()
        go_on = asyncio.Event()

        async def chat(self, context: SessionContext) -> str:
            self.begun.set()
            await self.go_on.wait()
            return await super().chat(context)

    deployment = deploy(replace(Parts(), model=Slow))

    async def race() -> None:
        asking = asyncio.create_task(deployment.send("cached_answer", ANN, query="what?"))
        await Slow.begun.wait()
        await deployment.send("add_memory", ANN, text=WORD)
        Slow.go_on.set()
        await asking

    deployment.runner.run(race())
    assert WORD in deployment.value("cached_answer", ANN, query="what?")


def test_a_plain_text_is_no_cache_key(reference: Deployment) -> None:
    cache, scope = reference.system.cache, Scope(*ANN)
    since = reference.runner.run(cache.generation(scope))
    with pytest.raises(TypeError):
        reference.runner.run(cache.get(scope, "what?"))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        reference.runner.run(cache.put(scope, "what?", "x", since))  # type: ignore[arg-type]


@pytest.mark.parametrize("level", ["tenant", "user"])
def test_a_purge_leaves_nothing_in_any_place_nor_in_the_raw_bytes(
    reference: Deployment, tmp_path: Path, level: str
) -> None:
    _sow(reference, ANN)
    _sow(reference, BOB, "neighbour")
    _sow(reference, ("acme2", "ann", "s1", "k1"), "neighbour")
    before = reference.view("stored_bytes")
    assert all(WORD in " ".join(before[place]) for place in ("main", "cache", "index", "objects"))
    admin = reference.token("acme", "ann", "admin")
    report = reference.value("purge", ANN, admin, level=level)
    assert report["done"]
    assert set(report["removed"]) == set(PLACES)
    assert all(report["removed"][place] for place in PLACES)
    after = reference.view("stored_bytes")
    assert WORD not in str(after)
    raw = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert WORD.encode() not in raw
    assert b"neighbour" in raw
    assert "tacme|uann" not in str(reference.view("stored_keys"))
    others = [("acme2", "ann", "s1", "k1")] if level == "tenant" else [("acme2", "ann", "s1", "k1"), BOB]
    for other in others:
        assert len(reference.value("list_turns", other)) == 2
        assert len(reference.value("search_memory", other, query="neighbour")) == 1
        assert reference.value("get_artifact", other, name="neighbour") == "neighbour"
    assert reference.value("list_turns", ANN) == []


def test_a_sessions_purge_keeps_what_lives_above_it(reference: Deployment) -> None:
    _sow(reference, ANN)
    other = ("acme", "ann", "s10", "k1")
    _sow(reference, other, "sibling")
    reference.value("purge", ANN, level="session")
    assert reference.value("list_turns", ANN) == []
    assert [fact["key"] for fact in reference.value("list_facts", ANN)] == ["user"]
    assert len(reference.value("list_memories", ANN)) == 2
    assert len(reference.value("list_turns", other)) == 2
    assert reference.value("list_sessions", ANN) == ["s10"]


def test_a_tasks_purge_keeps_the_numbers_and_not_the_text(reference: Deployment) -> None:
    _sow(reference, ANN)
    reference.value("append_turn", (*ANN[:3], "k2"), text="other task", request_id="r2")
    reference.value("append_turn", ANN, text=f"{WORD} again", request_id="r1")
    reference.value("purge", ANN, level="task")
    turns = reference.value("list_turns", ANN)
    assert [turn["turn"] for turn in turns] == [1, 2, 3, 4]
    assert [turn["text"] for turn in turns] == ["", "", "other task", ""]
    assert reference.value("append_turn", ANN, text=f"{WORD} again", request_id="r1")["turn"] == 4
    assert WORD not in str(reference.value("list_turns", ANN))
    assert reference.value("list_artifacts", ANN) == []
    assert reference.value("append_turn", ANN, text="new")["turn"] == 5


@pytest.mark.parametrize("level", ["session", "task"])
def test_a_reply_made_during_a_purge_does_not_come_back(deploy: Deploy, level: str) -> None:
    class Purged(Echo):
        async def chat(self, context: SessionContext) -> str:
            await deployment.send("purge", ANN, level=level)
            return WORD

    deployment = deploy(replace(Parts(), model=Purged))
    refused = deployment.post("run_turn", ANN, text=WORD)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert WORD not in str(deployment.view("stored_bytes"))


def test_a_deleted_session_is_gone_and_its_name_can_begin_anew(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text=WORD, request_id="r1")
    assert reference.value("delete_session", ANN) is None
    assert reference.post("delete_session", ANN).status_code == 404
    assert reference.post("session_info", ANN).status_code == 404
    assert reference.value("append_turn", ANN, text="anew", request_id="r1") == {"turn": 1, "version": 1}
    assert "ss1" not in " ".join(reference.view("read_log")[:2])


def test_a_tenants_purge_takes_its_admin_or_an_operator(reference: Deployment) -> None:
    _sow(reference, ANN)
    assert reference.post("purge", ANN, level="tenant").status_code == 403
    foreign = reference.token("zeta", "ann", "admin")
    assert reference.post("purge", ANN, foreign, level="tenant").status_code == 403
    assert reference.post("purge", BOB, reference.token("acme", "ann", "admin"), level="user").status_code == 403
    operator = reference.token("ops", "ops", "operator")
    assert reference.value("purge", ANN, operator, level="tenant")["done"]
    assert reference.post("purge", ("acme", "ann"), level="session").status_code == 422


@pytest.mark.parametrize("fails", PLACES)
def test_a_purge_whose_place_failed_stays_open_and_is_finished_later(deploy: Deploy, fails: str) -> None:
    class Failing(Purge):
        async def erase(self, place: str, scope: Scope, level: Level) -> int:
            if place == fails:
                raise OSError("not reached")
            return await super().erase(place, scope, level)

    first = deploy(replace(Parts(), model=Echo, purge=Failing), folder="shared")
    _sow(first, ANN)
    assert first.post("purge", ANN, level="user").status_code == 500
    again = deploy(folder="shared")
    assert again.runner.run(again.system.purge.resume()) == 1
    assert again.runner.run(again.system.purge.resume()) == 0
    assert WORD not in str(again.view("stored_bytes"))
    assert not [key for key in again.view("stored_keys")["main"] if "uann" in key]


def test_an_erased_file_that_is_missing_reads_as_none(reference: Deployment, tmp_path: Path) -> None:
    reference.value("put_artifact", ANN, name="a", text="x")
    for path in tmp_path.rglob("na"):
        path.unlink()
    assert reference.post("get_artifact", ANN, name="a").status_code == 404


def test_stored_keys_are_the_ones_that_keys_makes(reference: Deployment) -> None:
    _sow(reference, ANN)
    keys, scope = reference.system.keys, Scope(*ANN)
    stored = reference.view("stored_keys")
    question = {"question": "what is known?"}
    assert stored["cache"] == [
        keys.cache(scope, "rerank", {"query": "what is known?"}),
        keys.cache(scope, "response", question),
        keys.cache(scope, "retrieval", {"query": "what is known?"}),
    ]
    assert stored["objects"] == [keys.artifact(scope, WORD)]
    assert stored["index"] == [keys.index(scope)]
    assert stored["log"] == [keys.log(scope)]
    assert all(key.startswith(Keys().prefix(scope, Level.USER)) for key in stored["main"])
    assert "ann" not in " ".join(reference.view("read_log")).replace("channel", "")


class Telling(Echo):
    """Answers with everything that it was given."""

    async def chat(self, context: SessionContext) -> str:
        return "known: " + "; ".join(message["content"] for message in context.messages())


@pytest.mark.parametrize("place", [*PLACES[:-1], "sessions of main"])
@pytest.mark.parametrize("level", ["tenant", "user"])
def test_a_turn_that_is_heard_between_two_places_brings_nothing_back(deploy: Deploy, place: str, level: str) -> None:
    class Interrupted(Purge):
        async def erase(self, at: str, scope: Scope, level: Level) -> int:
            count = await super().erase(at, scope, level)
            if at == place:
                await deployment.send("run_turn", ANN, text="what do I drink?")
            return count

    class Heard(SqlSessions):
        async def erase(self, scope: Scope, level: Level) -> int:
            count = await super().erase(scope, level)
            if place == "sessions of main" and not self.__dict__.setdefault("heard", False):
                self.__dict__["heard"] = True
                await deployment.send("run_turn", ANN, text="what do I drink?")
            return count

    deployment = deploy(replace(Parts(), model=Telling, purge=Interrupted, sessions=Heard))
    deployment.value("add_memory", ANN, text="jasmine tea")
    deployment.value("put_fact", ANN, key="drink", value="jasmine", layer="user")
    deployment.value("run_turn", ANN, text="what do I drink?")
    deployment.value("purge", ANN, deployment.token("acme", "ann", "admin"), level=level)
    assert "jasmine" not in str(deployment.view("stored_bytes"))


def test_a_turn_that_was_purged_before_it_was_answered_asks_no_model(deploy: Deploy) -> None:
    class Late(Assembler):
        async def history(self, scope: Scope, up_to: int | None) -> Any:
            if up_to is not None:
                await deployment.send("purge", ANN, level="session")
            return await super().history(scope, up_to)

    deployment = deploy(replace(Parts(), model=Echo, assembler=Late))
    deployment.value("add_memory", ANN, text="jasmine tea")
    refused = deployment.post("run_turn", ANN, text="what do I drink?")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert deployment.prompts == []
    assert deployment.value("list_turns", ANN) == []
