"""Turns are append-only, numbered 1..n, once per request, whatever the load."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from partywall.canaries import Scope
from partywall.reference_impl.append import Appended, Draft, TurnLog
from partywall.reference_impl.keys import Key, Keys
from partywall.reference_impl.locks import SessionLocks
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.refusals import ConcurrencyError, Limited
from partywall.reference_impl.session_context import SessionContext

from .deployment import Deploy, Deployment, Echo

ANN = ("acme", "ann", "s1", "k1")


def test_eight_concurrent_appends_make_eight_turns(reference: Deployment) -> None:
    answers = reference.together([("append_turn", ANN, {"text": f"note {n}"}) for n in range(8)])
    assert [answer.status_code for answer in answers] == [200] * 8
    assert sorted(answer.json()["value"]["turn"] for answer in answers) == list(range(1, 9))
    turns = reference.value("list_turns", ANN)
    assert [turn["turn"] for turn in turns] == list(range(1, 9))
    assert {turn["text"] for turn in turns} == {f"note {n}" for n in range(8)}
    for answer, n in zip(answers, range(8), strict=True):
        assert turns[answer.json()["value"]["turn"] - 1]["text"] == f"note {n}"
    assert reference.value("session_info", ANN)["version"] == 8


def test_a_retried_request_is_turn_one_twice_and_one_turn(reference: Deployment) -> None:
    for _ in range(2):
        value = reference.value("append_turn", ANN, text="once", request_id="r1")
        assert value == {"turn": 1, "version": 1}
    assert len(reference.value("list_turns", ANN)) == 1


def test_concurrent_deliveries_of_one_request_are_one_turn(reference: Deployment) -> None:
    answers = reference.together([("append_turn", ANN, {"text": "once", "request_id": "r1"})] * 8)
    assert {answer.json()["value"]["turn"] for answer in answers} == {1}
    assert len(reference.value("list_turns", ANN)) == 1


@pytest.mark.parametrize("other", [{"text": "changed"}, {"text": "once", "role": "assistant"}])
def test_the_same_id_with_another_body_is_refused(reference: Deployment, other: dict[str, Any]) -> None:
    reference.value("append_turn", ANN, text="once", request_id="r1")
    refused = reference.post("append_turn", ANN, request_id="r1", **other)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert [turn["text"] for turn in reference.value("list_turns", ANN)] == ["once"]


@pytest.mark.parametrize("elsewhere", [("zeta", "ann"), ("acme", "bob"), ("acme", "ann", "s2")])
def test_request_ids_are_scoped(reference: Deployment, elsewhere: tuple[str, ...]) -> None:
    there = (*elsewhere, *ANN[len(elsewhere) :])
    reference.value("append_turn", ANN, text="here", request_id="r1")
    assert reference.value("append_turn", there, text="there", request_id="r1") == {"turn": 1, "version": 1}


def test_a_stale_version_is_refused_naming_both(reference: Deployment) -> None:
    for text in ("one", "two"):
        reference.value("append_turn", ANN, text=text)
    refused = reference.post("append_turn", ANN, text="three", expected_version=1)
    assert refused.status_code == 409
    assert (refused.json()["expected"], refused.json()["actual"]) == (1, 2)
    assert reference.value("append_turn", ANN, text="three", expected_version=2)["turn"] == 3


def test_a_version_of_a_missing_session_conflicts_too(reference: Deployment) -> None:
    assert reference.post("append_turn", ANN, text="one", expected_version=0).status_code == 409
    assert reference.value("list_turns", ANN) == []


def test_of_two_commits_from_one_version_one_fails(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="one")
    answers = reference.together([("append_turn", ANN, {"text": text, "expected_version": 1}) for text in ("a", "b")])
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert len(reference.value("list_turns", ANN)) == 2


def test_compare_and_set_holds_where_the_lock_fails(deploy: Deploy) -> None:
    class NoLock(SessionLocks):
        def hold(self, key: Key) -> Any:
            return super().hold(Key(f"{key}{id(asyncio.current_task())}"))

    unlocked = deploy(replace(Parts(), model=Echo, locks=NoLock))
    answers = unlocked.together([("append_turn", ANN, {"text": f"note {n}"}) for n in range(8)])
    acked = {answer.json()["value"]["turn"] for answer in answers if answer.status_code == 200}
    assert all(answer.status_code in (200, 409) for answer in answers)
    turns = unlocked.value("list_turns", ANN)
    assert {turn["turn"] for turn in turns} == acked == set(range(1, len(turns) + 1))


def test_a_conflict_is_read_anew_a_bounded_number_of_times() -> None:
    class AlwaysStale:
        reads = 0

        async def version(self, scope: Scope) -> int | None:
            self.reads += 1
            return self.reads

        async def append(self, scope: Scope, draft: Draft, seen: int | None) -> Appended:
            raise ConcurrencyError(seen, 0)

    class Counted:
        conflicts = 0

        def cas(self, conflict: bool) -> None:
            self.conflicts += conflict

    store, counted = AlwaysStale(), Counted()
    log = TurnLog(Keys(), SessionLocks(), store, counted)
    with pytest.raises(ConcurrencyError):
        asyncio.run(log.append(Scope(*ANN), Draft("x")))
    assert store.reads == counted.conflicts == 5


class _Remembering:
    """A store of one session, that somebody else can write to."""

    def __init__(self) -> None:
        self.at: int | None = None
        self.reads = 0
        self.conflicts = 0

    async def version(self, scope: Scope) -> int | None:
        self.reads += 1
        return self.at

    async def append(self, scope: Scope, draft: Draft, seen: int | None) -> Appended:
        if seen != self.at:
            raise ConcurrencyError(seen, self.at)
        self.at = (self.at or 0) + 1
        repeated = draft.request_id is not None  # a first answer, which says how things stood then
        return Appended(1 if repeated else self.at, 1 if repeated else self.at, "life", draft.text, repeated)

    def cas(self, conflict: bool) -> None:
        self.conflicts += conflict


def test_the_version_that_an_append_left_is_not_read_again() -> None:
    store = _Remembering()
    log = TurnLog(Keys(), SessionLocks(), store, store)

    async def appends() -> None:
        assert [(await log.append(Scope(*ANN), Draft("x"))).turn for _ in range(3)] == [1, 2, 3]

    asyncio.run(appends())
    assert (store.reads, store.conflicts) == (1, 0)


@pytest.mark.parametrize("elsewhere", [7, None], ids=["written to", "purged"])
def test_a_remembered_version_that_is_too_old_is_found_out_and_read(elsewhere: int | None) -> None:
    store = _Remembering()
    log = TurnLog(Keys(), SessionLocks(), store, store)

    async def appends() -> int:
        await log.append(Scope(*ANN), Draft("x"))
        store.at = elsewhere
        return (await log.append(Scope(*ANN), Draft("x"))).turn

    assert asyncio.run(appends()) == (elsewhere or 0) + 1
    assert (store.reads, store.conflicts) == (2, 1)


def test_the_version_of_a_first_answer_is_not_remembered() -> None:
    store = _Remembering()
    store.at = 5
    log = TurnLog(Keys(), SessionLocks(), store, store)

    async def appends() -> None:
        await log.append(Scope(*ANN), Draft("x", request_id="r1"))
        await log.append(Scope(*ANN), Draft("y"))

    asyncio.run(appends())
    assert (store.reads, store.conflicts) == (2, 0)


def test_a_plain_text_is_no_lock_key() -> None:
    with pytest.raises(TypeError):
        asyncio.run(SessionLocks().hold("s1").__aenter__())  # type: ignore[arg-type]


def test_a_lock_that_is_not_had_in_time_is_a_loud_refusal() -> None:
    async def two_holders() -> None:
        locks = SessionLocks(timeout=0.01)
        async with locks.hold(Key("a")) as owner:
            assert locks.owner(Key("a")) == owner
            async with locks.hold(Key("b")):
                pass
            with pytest.raises(Limited):
                await locks.hold(Key("a")).__aenter__()
        async with locks.hold(Key("a")):
            pass
        assert locks.owner(Key("a")) is None

    asyncio.run(two_holders())


def test_no_model_call_happens_under_the_lock(deploy: Deploy) -> None:
    held: list[bool] = []

    class Watching(Echo):
        async def chat(self, context: SessionContext) -> str:
            held.append(bool(locks[0]._held))
            return "fine"

    locks: list[SessionLocks] = []

    class Watched(SessionLocks):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            locks.append(self)

    deployment = deploy(replace(Parts(), model=Watching, locks=Watched))
    deployment.value("run_turn", ANN, text="hello")
    assert held == [False]


def test_a_retried_agent_turn_acts_once(reference: Deployment) -> None:
    first = reference.value("run_turn", ANN, text="hello", request_id="r1")
    assert reference.value("run_turn", ANN, text="hello", request_id="r1") == first
    assert len(reference.prompts) == 1
    assert [turn["role"] for turn in reference.value("list_turns", ANN)] == ["user", "assistant"]


def test_concurrent_deliveries_of_an_agent_turn_store_one_answer(reference: Deployment) -> None:
    answers = reference.together([("run_turn", ANN, {"text": "hello", "request_id": "r1"})] * 4)
    assert len({answer.text for answer in answers}) == 1
    assert [turn["role"] for turn in reference.value("list_turns", ANN)] == ["user", "assistant"]


def test_history_is_filtered_by_task_before_the_last_turns_are_taken(deploy: Deploy) -> None:
    deployment = deploy(history_turns=3)
    for n in range(3):
        deployment.value("append_turn", ANN, text=f"mine {n}")
    for n in range(10):
        deployment.value("append_turn", (*ANN[:3], "k2"), text=f"theirs {n}")
    found = [line for line in deployment.value("context", ANN) if line.startswith("user")]
    assert found == ["user: mine 0", "user: mine 1", "user: mine 2"]
    everything = [turn["text"] for turn in deployment.value("list_turns", ANN)][-3:]
    assert everything == ["theirs 7", "theirs 8", "theirs 9"]


def test_an_expired_session_takes_no_more_writes(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="in time")
    reference.system.clock.advance(8 * 3600)
    writes: dict[str, dict[str, Any]] = {
        "append_turn": {"text": "late"},
        "run_turn": {"text": "late"},
        "put_fact": {"key": "a", "value": 1, "layer": "session"},
        "put_artifact": {"name": "a", "text": "late"},
    }
    for name, body in writes.items():
        refused = reference.post(name, ANN, **body)
        assert (refused.status_code, refused.json()["code"]) == (410, "expired")
        assert "ann" not in refused.json()["detail"]
    assert reference.post("create_session", ANN).status_code == 410
    assert reference.value("session_info", ANN)["state"] == "expired"
    assert len(reference.value("list_turns", ANN)) == 1


def test_a_session_carries_what_it_is_told_to(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="a turn")
    reference.value("put_fact", ANN, key="conclusion", value="42", layer="task")
    reference.value("put_fact", ANN, key="mood", value="dry", layer="session")
    assert reference.value("create_session", (*ANN[:2], "s2"), carry_from="s1") == "s2"
    carried = reference.value("list_facts", (*ANN[:2], "s2", "k1"))
    assert [(fact["key"], fact["value"]) for fact in carried] == [("conclusion", "42")]
    assert reference.post("create_session", (*ANN[:2], "s3"), carry_from="nowhere").status_code == 404
    assert reference.value("list_sessions", ANN) == ["s1", "s2"]


def test_a_session_id_is_made_where_none_is_given(reference: Deployment) -> None:
    one, other = (reference.value("create_session", ANN[:2]) for _ in range(2))
    assert one != other
    assert reference.value("list_sessions", ANN) == [one, other]


def test_layer_writes_and_missing_dimensions_are_counted(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="a", request_id="r1")
    reference.value("append_turn", ANN, text="a", request_id="r1")
    reference.post("list_turns", ("acme", ""), reference.token("acme", "ann"))
    metrics = reference.view("metrics")
    assert 'partywall_missing_dimension_total{dimension="user"} 1.0' in metrics
    assert 'partywall_request_dedup_total{outcome="hit",source="append_turn"} 1.0' in metrics
    assert 'partywall_layer_writes_total{layer="session"} 1.0' in metrics
    assert "partywall_canary_hits_total 0.0" in metrics
