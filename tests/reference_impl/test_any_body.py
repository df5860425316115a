"""Whatever is sent to whichever operation: a known status, no internal error, no echo, no sign of what others have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from partywall.reference_impl.app import OPERATIONS, VIEWS
from partywall.reference_impl.parts import Parts

from .deployment import Deployment, Echo

ANN = {"tenant": "acme", "user": "ann", "session": "s1", "task": "k1"}
ZOE = ("zeta", "zoe", "s1", "k1")
STATUSES = {200, 403, 404, 409, 410, 413, 422, 429, 503}
ECHO = "echozq"
FULL: dict[str, dict[str, Any]] = {
    "create_session": {"carry_from": "s0", "carry": ["a"]},
    "append_turn": {"text": "hello", "role": "user", "expected_version": 1, "request_id": "r1"},
    "list_turns": {"limit": 5},
    "run_turn": {"text": "hello", "request_id": "r1"},
    "context": {"query": "hello"},
    "add_memory": {"text": "hello"},
    "search_memory": {"query": "hello", "limit": 5},
    "get_memory": {"memory_id": "m1"},
    "delete_memory": {"memory_id": "m1"},
    "put_fact": {"key": "a", "value": 1, "layer": "task", "valid_from": 1.0},
    "get_fact": {"key": "a", "at": 1.0, "known_at": 1.0, "layer": "task"},
    "list_facts": {"at": 1.0, "known_at": 1.0, "layer": "task", "include_superseded": True},
    "delete_fact": {"key": "a", "layer": "task"},
    "put_artifact": {"name": "a", "text": "b"},
    "get_artifact": {"name": "a"},
    "render_artifact": {"name": "a", "template": "{{a}}"},
    "replay_artifact": {"name": "a"},
    "cached_answer": {"query": "hello"},
    "purge": {"level": "task"},
    "advance_clock": {"seconds": 1},
}
"""Every argument of every operation that has any."""

_TEXTS = st.text(max_size=20) | st.sampled_from(["", " ", "..", "\x00", "%", "{{a}}", "{{", "null", ECHO, "'", "|"])
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS.map(lambda text: ECHO + text)
    | _TEXTS
)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4), max_leaves=8
)
_NAMES = st.sampled_from([*OPERATIONS, *VIEWS])


@st.composite
def _nearly_right(draw: st.DrawFn) -> tuple[str, Any]:
    """A body that fits its operation but for some of its parts."""
    name = draw(_NAMES)
    full = FULL.get(name, {})
    body: dict[str, Any] = {key: full[key] for key in draw(st.sets(st.sampled_from(list(full))))} if full else {}
    scope: dict[str, Any] = dict(ANN)
    for level in draw(st.sets(st.sampled_from(list(ANN)), max_size=2)):
        scope[level] = draw(_VALUES)
    body["scope"] = scope
    for key in draw(st.sets(st.sampled_from([*full, "scope", ECHO]), max_size=2)):
        body[key] = draw(_VALUES)
    return name, body


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("fuzzed")
    built = Deployment(folder, replace(Parts(), model=Echo), user_burst=0, tenant_burst=0)
    built.value("add_memory", ZOE, text="zoes")
    built.value("append_turn", ZOE, text="zoes")
    yield built
    built.close()


def _sent(deployment: Deployment, name: str, raw: bytes) -> Any:
    operator = name in VIEWS
    token = deployment.token("ops", "ops", "operator") if operator else deployment.token("acme", "ann")
    headers = {"authorization": f"Bearer {token}"}
    return deployment.runner.run(deployment.client.post(f"/v1/{name}", content=raw, headers=headers))


def _check(response: Any) -> None:
    assert response.status_code in STATUSES, response.text
    if response.status_code != 200:
        problem = response.json()
        assert response.headers["content-type"] == "application/problem+json"
        assert {"type", "title", "status", "code", "detail"} <= set(problem)
        assert ECHO not in response.text
        assert "zeta" not in response.text
        assert "zoe" not in response.text


_SETTINGS = settings(deadline=None, suppress_health_check=list(HealthCheck))


@_SETTINGS
@given(name=_NAMES, body=_VALUES)
def test_any_json_at_all_is_answered_by_a_known_status(deployment: Deployment, name: str, body: Any) -> None:
    _check(_sent(deployment, name, json.dumps(body).encode()))


@settings(_SETTINGS, max_examples=300)
@given(_nearly_right())
def test_a_body_that_nearly_fits_is_answered_by_a_known_status(
    deployment: Deployment, sent: tuple[str, dict[str, Any]]
) -> None:
    name, body = sent
    _check(_sent(deployment, name, json.dumps(body).encode()))


@_SETTINGS
@given(name=_NAMES, raw=st.binary(max_size=200))
def test_any_bytes_at_all_are_a_problem(deployment: Deployment, name: str, raw: bytes) -> None:
    _check(_sent(deployment, name, raw))


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_what_another_has_and_what_nobody_has_read_alike(deployment: Deployment, name: str) -> None:
    answers = []
    for tenant, user, session in (("zeta", "zoe", "s1"), ("zeta", "zoe", "s9"), ("nobody", "zoe", "s1")):
        scope = {"tenant": tenant, "user": user, "session": session, "task": "k1"}
        answers.append(_sent(deployment, name, json.dumps({"scope": scope, **FULL.get(name, {})}).encode()))
    assert {answer.status_code for answer in answers} == {403}
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize("name", ["get_memory", "delete_memory"])
def test_an_id_of_anothers_and_one_of_nobodys_read_alike(deployment: Deployment, name: str) -> None:
    [theirs] = deployment.value("list_memories", ZOE)
    bodies = [{"scope": ANN, "memory_id": each} for each in (theirs["id"], "m" + "0" * 20)]
    one, other = (_sent(deployment, name, json.dumps(body).encode()) for body in bodies)
    assert (one.status_code, one.content) == (404, other.content)
    assert len(deployment.value("list_memories", ZOE)) == 1


def test_every_argument_of_every_operation_is_tried() -> None:
    declared = {
        name: set(model.model_fields) - {"scope"}
        for name, model in {**OPERATIONS, **VIEWS}.items()
        if set(model.model_fields) - {"scope"}
    }
    assert declared == {name: set(arguments) for name, arguments in FULL.items()}
