"""Sessions end by the clock, whoever sweeps; an archived one has no text, and is still told of; layers end unused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from partywall.canaries import Scope
from partywall.reference_impl.lifecycle import Life, Limits, State

from .deployment import Deploy, Deployment

ANN = ("acme", "ann", "s1", "k1")
BOB = ("acme", "bob", "s1", "k1")
WORD = "hapaxlegomenon"
HOUR, DAY = 3600.0, 86400.0
LIMITS = Limits()


def _advance(deployment: Deployment, seconds: float) -> Any:
    operator = deployment.token("ops", "ops", "operator")
    return deployment.value("advance_clock", ("ops", "ops"), operator, seconds=seconds)


def _state(deployment: Deployment) -> str:
    return str(deployment.value("session_info", ANN)["state"])


def _raw(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_four_states_follow_from_three_limits_each_for_itself(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="hello")
    seen = [_state(reference)]
    for seconds in (15 * 60, 8 * HOUR, 30 * DAY):
        _advance(reference, seconds)
        seen.append(_state(reference))
    assert seen == ["active", "idle", "expired", "archived"]


def test_activity_ends_idleness_and_moves_no_end(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="hello")
    end = reference.value("session_info", ANN)["expires_at"]
    for _ in range(9):
        _advance(reference, 0.8 * HOUR)
        assert _state(reference) == "idle"
        reference.value("append_turn", ANN, text="still there")
        assert _state(reference) == "active"
    assert reference.value("session_info", ANN)["expires_at"] == end
    _advance(reference, HOUR)
    assert reference.post("append_turn", ANN, text="too late").status_code == 410


@given(
    created=st.floats(0, 1e6), active=st.floats(0, 1e6), later=st.floats(0, 1e8), archived=st.none() | st.floats(0, 1e6)
)
def test_a_session_only_ever_goes_on_to_later_states(
    created: float, active: float, later: float, archived: float | None
) -> None:
    order = list(State)
    life = Life(created, created + active, archived)
    now = max(created + active, archived or 0)
    before, after = life.state(now, LIMITS), life.state(now + later, LIMITS)
    assert order.index(before) <= order.index(after)
    assert life.writable(now, LIMITS) == (before in (State.ACTIVE, State.IDLE))


def test_an_archived_session_shows_no_text_even_before_anybody_has_swept(deploy: Deploy) -> None:
    deployment = deploy(archive_after=10.0)
    deployment.value("append_turn", ANN, text=WORD, request_id="r1")
    deployment.system.clock.advance(8 * HOUR + 11)
    assert WORD in str(deployment.view("stored_bytes"))
    assert deployment.value("list_turns", ANN) == []
    assert WORD not in str(deployment.value("context", ANN, query="what?"))
    told = deployment.value("session_info", ANN)
    assert (told["state"], told["turns"], told["version"]) == ("archived", 0, 1)


def test_what_is_due_is_cleared_for_good_and_told_of(reference: Deployment, tmp_path: Path) -> None:
    reference.value("append_turn", ANN, text=WORD, request_id="r1")
    reference.value("run_turn", ANN, text=f"{WORD}?")
    reference.value("put_fact", ANN, key="colour", value=WORD, layer="task")
    reference.value("cached_answer", ANN, query="what is known?")
    assert _advance(reference, 8 * HOUR + 30 * DAY)["archived"] == 1
    assert WORD not in str(reference.view("stored_bytes"))
    reference.runner.run(reference.system.database.compact("acme"))
    reference.runner.run(reference.system.cache.compact())
    assert WORD.encode() not in _raw(tmp_path)
    told = reference.value("session_info", ANN)
    assert (told["state"], told["turns"], told["version"], told["first"]) == ("archived", 0, 3, 4)
    assert told["summary"]["turns"] == 3
    assert told["summary"]["tasks"]["k1"]["turns"] == 3
    assert told["summary"]["tasks"]["k1"]["conclusions"] == ["colour"]
    assert reference.value("list_sessions", ANN) == ["s1"]


def test_sweeping_twice_does_nothing_more(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="hello")
    counts = [_advance(reference, seconds)["archived"] for seconds in (8 * HOUR + 30 * DAY, 1, 0)]
    assert counts == [1, 0, 0]


def test_a_session_is_archived_by_its_owner_at_once_and_nobody_else(reference: Deployment) -> None:
    for at in (ANN, BOB):
        reference.value("append_turn", at, text=WORD, request_id="r1")
    assert reference.post("archive_session", ANN, reference.token("acme", "bob")).status_code == 403
    assert reference.value("archive_session", ANN) is None
    assert _state(reference) == "archived"
    assert reference.value("list_turns", ANN) == []
    assert len(reference.value("list_turns", BOB)) == 1
    assert reference.post("append_turn", ANN, text="more").status_code == 410
    assert reference.post("archive_session", (*ANN[:2], "s9")).status_code == 404


def test_a_late_retry_to_an_archived_session_gets_its_first_number(reference: Deployment) -> None:
    first = reference.value("append_turn", ANN, text="hello", request_id="r1")
    turn = reference.value("run_turn", ANN, text="how?", request_id="r2")["turn"]
    reference.value("archive_session", ANN)
    assert reference.value("append_turn", ANN, text="hello", request_id="r1") == first
    asked = len(reference.prompts)
    late = reference.value("run_turn", ANN, text="how?", request_id="r2")
    assert (late["turn"], late["llm_used"], late["guidance"]["type"]) == (turn, False, "answer_removed")
    assert len(reference.prompts) == asked


def test_the_clock_moves_only_where_the_deployment_was_started_so(deploy: Deploy) -> None:
    deployment = deploy(movable_clock=False)
    operator = deployment.token("ops", "ops", "operator")
    assert deployment.post("advance_clock", ("ops", "ops"), operator, seconds=1).status_code == 404


@pytest.mark.parametrize("seconds", [-1, "1", None, 1e300])
def test_the_clock_takes_no_nonsense(reference: Deployment, seconds: object) -> None:
    operator = reference.token("ops", "ops", "operator")
    assert reference.post("advance_clock", ("ops", "ops"), operator, seconds=seconds).status_code == 422


def test_the_task_layer_ends_unused_and_a_used_one_does_not(deploy: Deploy) -> None:
    reference = deploy(lifetime=60 * DAY)
    used = (*ANN[:3], "k2")
    for at in (ANN, used):
        reference.value("put_fact", at, key="plan", value=WORD, layer="task")
    reference.value("put_fact", ANN, key="language", value="de", layer="user")
    _advance(reference, 6 * DAY)
    reference.value("put_fact", used, key="step", value=2, layer="task")
    _advance(reference, 2 * DAY)
    assert [fact["key"] for fact in reference.value("list_facts", ANN)] == ["language"]
    assert [fact["key"] for fact in reference.value("list_facts", used)] == ["plan", "step", "language"]


def test_the_user_layer_ends_after_a_year_without_a_sign_of_the_user(reference: Deployment) -> None:
    for at in (ANN, BOB):
        reference.value("add_memory", at, text=f"{WORD} of {at[1]}")
        reference.value("put_fact", at, key="language", value="de", layer="user")
    _advance(reference, 360 * DAY)
    reference.value("append_turn", BOB, text="still here")
    _advance(reference, 10 * DAY)
    assert reference.value("list_memories", ANN) == []
    assert reference.value("list_facts", ANN[:2]) == []
    assert reference.value("search_memory", ANN, query=WORD) == []
    assert len(reference.value("list_memories", BOB)) == 1
    assert len(reference.value("list_facts", BOB[:2])) == 1
    assert f"{WORD} of ann" not in str(reference.view("stored_bytes"))


def test_an_expired_session_is_carried_on_in_a_new_one(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="hello")
    reference.value("put_fact", ANN, key="plan", value="by train", layer="task")
    _advance(reference, 8 * HOUR)
    new = (*ANN[:2], "s2", "k1")
    assert reference.value("create_session", new, carry_from="s1") == "s2"
    assert [fact["value"] for fact in reference.value("list_facts", new)] == ["by train"]
    assert Scope(*new).session == "s2"
