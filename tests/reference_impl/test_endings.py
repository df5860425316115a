"""What is due is ended before its scope is looked at, whole or again, and never what is in use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from partywall.canaries import Level, Scope
from partywall.reference_impl.caches import Caches
from partywall.reference_impl.endings import Endings
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.refusals import StoreDown

from .deployment import Deploy, Deployment, Echo

ANN = ("acme", "ann", "s1", "k1")
OTHER = (*ANN[:3], "k2")
BOB = ("acme", "bob", "s1", "k1")
WORD = "hapaxlegomenon"
HOUR, DAY, YEAR = 3600.0, 86400.0, 365 * 86400.0
LOOKS: dict[str, dict[str, Any]] = {
    "list_turns": {},
    "context": {"query": WORD},
    "list_facts": {"include_superseded": True},
    "list_artifacts": {},
    "cached_answer": {"query": "what is known?"},
    "search_memory": {"query": WORD},
    "list_memories": {},
    "session_info": {},
}


def _sow(deployment: Deployment, at: tuple[str, ...] = ANN) -> None:
    deployment.value("append_turn", at, text=WORD)
    for layer in ("session", "task", "user"):
        deployment.value("put_fact", at, key=layer, value=f"{WORD} {layer}", layer=layer)
    deployment.value("put_artifact", at, name="report", text=WORD)
    deployment.value("add_memory", at, text=WORD)
    deployment.value("cached_answer", at, query="what is known?")


@pytest.mark.parametrize("look", LOOKS)
def test_the_first_look_after_the_end_shows_nothing_of_it(reference: Deployment, look: str) -> None:
    _sow(reference)
    reference.system.clock.advance(2 * YEAR)
    shown = reference.post(look, ANN, **LOOKS[look])
    assert shown.status_code == 200
    assert WORD not in shown.text


def test_of_an_archived_session_conclusions_stay_for_the_tasks_own_time(deploy: Deploy) -> None:
    deployment = deploy(archive_after=HOUR)
    _sow(deployment)
    deployment.system.clock.advance(9 * HOUR + 1)
    kept = {fact["key"] for fact in deployment.value("list_facts", ANN)}
    assert kept == {"task", "user"}
    assert deployment.value("get_artifact", ANN, name="report") == WORD
    deployment.system.clock.advance(7 * DAY)
    assert {fact["key"] for fact in deployment.value("list_facts", ANN)} == {"user"}
    assert deployment.post("get_artifact", ANN, name="report").status_code == 404
    assert deployment.view("stored_bytes")["objects"] == []


def test_a_summary_of_turns_goes_with_its_session_and_the_callers_own_fact_of_that_name_stays(deploy: Deploy) -> None:
    deployment = deploy(condense_at=12, max_turns=16)
    deployment.value("put_fact", ANN, key="summary", value="my own", layer="task")
    for number in range(12):
        deployment.value("append_turn", ANN, text=f"{WORD} {number}")
    facts = {fact["key"]: fact["value"] for fact in deployment.value("list_facts", ANN)}
    assert facts["summary"] == "my own"
    assert f"{WORD} 0" in facts["summary of turns"]
    deployment.value("archive_session", ANN)
    assert [fact["key"] for fact in deployment.value("list_facts", ANN)] == ["summary"]
    assert WORD not in str(deployment.view("stored_bytes"))
    told = deployment.value("session_info", ANN)["summary"]
    assert (told["turns"], told["tasks"]["k1"]["conclusions"]) == (12, ["summary"])


def test_use_moves_the_end_of_a_layer_and_of_that_layer_only(deploy: Deploy) -> None:
    deployment = deploy(lifetime=60 * DAY)
    for at in (ANN, OTHER):
        deployment.value("put_fact", at, key="plan", value="by train", layer="task")
    for _ in range(3):
        deployment.system.clock.advance(5 * DAY)
        deployment.value("append_turn", OTHER, text="still at it")
    assert deployment.value("list_facts", ANN) == []
    assert len(deployment.value("list_facts", OTHER)) == 1


def test_a_user_who_comes_back_in_time_keeps_everything(reference: Deployment) -> None:
    _sow(reference)
    for number in range(3):
        reference.system.clock.advance(YEAR - DAY)
        reference.value("append_turn", (*ANN[:2], f"back{number}", "k1"), text="hello")
    assert len(reference.value("list_memories", ANN)) == 1
    assert [fact["key"] for fact in reference.value("list_facts", ANN[:2])] == ["user"]


def test_what_one_ends_leaves_the_neighbours(reference: Deployment) -> None:
    _sow(reference)
    reference.system.clock.advance(YEAR - DAY)
    _sow(reference, BOB)
    reference.system.clock.advance(2 * DAY)
    assert reference.value("list_memories", ANN) == []
    for look in ("list_turns", "list_memories", "list_facts"):
        assert WORD in str(reference.value(look, BOB))


def test_after_a_crash_between_the_steps_the_next_look_does_the_rest(deploy: Deploy) -> None:
    class Dying(Caches):
        async def changed(self, scope: Scope, level: Level) -> None:
            if self.__dict__.get("dies"):
                raise StoreDown
            await super().changed(scope, level)

    deployment = deploy(replace(Parts(), model=Echo, caches=Dying), archive_after=HOUR)
    _sow(deployment)
    caches = deployment.system.answers._caches
    caches.__dict__["dies"] = True
    deployment.system.clock.advance(9 * HOUR + 1)
    assert deployment.post("list_turns", ANN).status_code == 503
    assert WORD in str(deployment.view("stored_bytes")["cache"])
    caches.__dict__["dies"] = False
    deployment.value("list_turns", ANN)
    assert WORD not in str(deployment.view("stored_bytes")["cache"])


def test_a_crash_of_the_object_store_leaves_what_the_next_look_finds_it_by(
    reference: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    _sow(reference)
    kept = reference.system.artifacts.erase

    async def down(*_: object) -> int:
        raise StoreDown("the object store")

    reference.system.clock.advance(8 * DAY)
    monkeypatch.setattr(reference.system.artifacts, "erase", down)
    assert reference.post("list_artifacts", ANN).status_code == 503
    monkeypatch.setattr(reference.system.artifacts, "erase", kept)
    assert reference.value("list_artifacts", ANN) == []
    assert reference.view("stored_bytes")["objects"] == []


def test_a_scope_with_nothing_due_is_not_asked_about_again_before_that_time(reference: Deployment) -> None:
    asked: list[Scope] = []
    uses = reference.system.endings._uses

    def counted(found: Callable[[Scope], Awaitable[Any]]) -> Callable[[Scope], Awaitable[Any]]:
        async def count(scope: Scope) -> Any:
            asked.append(scope)
            return await found(scope)

        return count

    uses.__dict__.update(user=counted(uses.user), tasks=counted(uses.tasks))
    user, session = Scope(*ANN[:2]), Scope(*ANN[:3])
    for _ in range(3):
        reference.value("append_turn", ANN, text="hello")
        reference.value("list_turns", OTHER)
    assert asked == [user, session]
    reference.system.clock.advance(8 * DAY)
    reference.value("list_turns", ANN)
    assert asked == [user, session, session]


def test_many_looks_at_once_end_it_once_and_all_see_the_same(deploy: Deploy) -> None:
    deployment = deploy(archive_after=HOUR)
    _sow(deployment)
    deployment.system.clock.advance(9 * HOUR + 1)
    answers = deployment.together([("list_turns", ANN, {}), ("session_info", ANN, {}), ("context", ANN, {})] * 5)
    assert {answer.status_code for answer in answers} == {200}
    assert all(WORD not in answer.text for answer in answers[:2] * 5)
    assert sum('"session_archived"' in line for line in deployment.view("read_log")) == 1


def test_how_many_scopes_are_remembered_is_bounded(reference: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partywall.reference_impl.endings.MOST_KNOWN", 3)

    async def settle() -> None:
        for number in range(9):
            await reference.system.endings.settle(Scope("acme", "ann", f"s{number}"))

    reference.runner.run(settle())
    assert len(reference.system.endings._quiet) == 3


def test_a_write_at_the_very_end_is_in_time_or_refused_and_never_both(deploy: Deploy) -> None:
    deployment = deploy(lifetime=100.0)
    deployment.value("append_turn", ANN, text="first")

    async def racing() -> list[int]:
        async def late(number: int) -> int:
            deployment.system.clock.advance(12)
            return (await deployment.send("append_turn", ANN, text=f"note {number}")).status_code

        return await asyncio.gather(*(late(number) for number in range(16)))

    codes = deployment.runner.run(racing())
    assert set(codes) <= {200, 410}
    assert 410 in codes
    texts = [turn["text"] for turn in deployment.value("list_turns", ANN)]
    assert {f"note {number}" for number, code in enumerate(codes) if code == 200} == set(texts) - {"first"}


def test_endings_are_a_part_that_can_be_replaced(deploy: Deploy) -> None:
    class OnlyBySweeping(Endings):
        async def settle(self, scope: Scope) -> None:
            """Nothing."""

    deployment = deploy(replace(Parts(), model=Echo, endings=OnlyBySweeping), archive_after=HOUR)
    _sow(deployment)
    deployment.system.clock.advance(9 * HOUR + 1)
    assert WORD in str(deployment.value("list_facts", ANN, layer="session"))
