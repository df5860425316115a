"""Who may call with what body; every refusal is a problem document, and none is an internal error."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest
from partywall.reference_impl.app import OPERATIONS, VIEWS
from partywall.reference_impl.parts import System

from .deployment import KEY, Deployment

ANN = {"tenant": "acme", "user": "ann", "session": "s1", "task": "k1"}
CLAIMS = {"tenant": "acme", "user": "ann", "role": "user", "merchant": "", "exp": 9_999_999_999}


def _raw(deployment: Deployment, name: str, body: bytes, **headers: str) -> Any:
    sent = {"authorization": f"Bearer {deployment.token('acme', 'ann')}", **headers}
    return deployment.runner.run(deployment.client.post(f"/v1/{name}", content=body, headers=sent))


def _assert_problem(response: Any, status: int) -> None:
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["status"] == status


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer x",
        "Basic YTpi",
        "Bearer " + jwt.encode({**CLAIMS, "exp": 1}, KEY, "HS256"),
        "Bearer " + jwt.encode(CLAIMS, "another key that is long enough to sign", "HS256"),
        "Bearer " + jwt.encode({k: v for k, v in CLAIMS.items() if k != "exp"}, KEY, "HS256"),
        "Bearer " + jwt.encode({k: v for k, v in CLAIMS.items() if k != "user"}, KEY, "HS256"),
        "Bearer " + jwt.encode({**CLAIMS, "tenant": ["acme"]}, KEY, "HS256"),
        "Bearer " + jwt.encode({**CLAIMS, "tenant": ""}, KEY, "HS256"),
        "Bearer " + jwt.encode(CLAIMS, "", "none"),
        "Bearer " + jwt.encode(CLAIMS, KEY + " much longer, for the longer digest of it", "HS512"),
    ],
)
def test_no_wrong_or_expired_credential_is_unauthenticated_alike(reference: Deployment, header: str) -> None:
    body = json.dumps({"scope": ANN}).encode()
    refused = _raw(reference, "list_turns", body, authorization=header)
    _assert_problem(refused, 401)
    assert refused.content == _raw(reference, "list_turns", b"{", authorization="Bearer y").content


@pytest.mark.parametrize("view", VIEWS)
def test_operator_views_are_for_operators(reference: Deployment, view: str) -> None:
    body = {"seconds": 1} if view == "advance_clock" else {}
    _assert_problem(_raw(reference, view, json.dumps(body).encode()), 403)
    operator = reference.token("ops", "ops", "operator")
    assert _raw(reference, view, json.dumps(body).encode(), authorization=f"Bearer {operator}").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b'{"scope": {"tenant": "acme", "user": "ann", "session": "\\ud800"}}',
        b'{"scope": NaN}',
        b'{"scope": {"tenant": "zeta", "user": "ann"}, "scope": {"tenant": "acme", "user": "ann"}}',
        b"[" * 100_000,
        b'{"scope": ' + b"9" * 5000 + b"}",
        json.dumps({"scope": {**ANN, "extra": 1}}).encode(),
        json.dumps({"scope": ANN, "unknown": 1}).encode(),
        json.dumps({"scope": {**ANN, "session": None}}).encode(),
        json.dumps({"scope": {**ANN, "session": 5}}).encode(),
        json.dumps({"scope": {**ANN, "user": None}}).encode(),
        json.dumps({"scope": {**ANN, "tenant": ""}}).encode(),
        json.dumps({"scope": {"user": "ann"}}).encode(),
        json.dumps({"scope": {**ANN, "user": "x" * 9000}}).encode(),
    ],
)
def test_a_malformed_body_is_a_problem_everywhere(reference: Deployment, body: bytes) -> None:
    for name in OPERATIONS:
        _assert_problem(_raw(reference, name, body), 422)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("append_turn", {"text": ""}),
        ("append_turn", {"text": 5}),
        ("append_turn", {"text": "x", "role": "system"}),
        ("append_turn", {"text": "x", "expected_version": -1}),
        ("append_turn", {"text": "x", "expected_version": True}),
        ("append_turn", {"text": "x", "expected_version": 2**70}),
        ("append_turn", {"text": "x", "request_id": ""}),
        ("list_turns", {"limit": 0}),
        ("add_memory", {"text": " \n"}),
        ("get_memory", {"memory_id": ""}),
        ("put_fact", {"key": "a", "value": 1}),
        ("put_fact", {"key": "a", "value": 1, "layer": "team"}),
        ("get_fact", {"key": "a", "at": "now"}),
        ("purge", {"level": "everything"}),
        ("search_memory", {"query": "x", "limit": 10**9}),
    ],
)
def test_a_bad_argument_is_refused_by_name(reference: Deployment, name: str, arguments: dict[str, Any]) -> None:
    refused = _raw(reference, name, json.dumps({"scope": ANN, **arguments}).encode())
    _assert_problem(refused, 422)
    assert {problem["at"] for problem in refused.json()["problems"]} <= {*arguments, "layer"}


@pytest.mark.parametrize(
    ("name", "scope"),
    [("append_turn", {"session": ""}), ("put_artifact", {"task": ""}), ("put_fact", {"task": ""})],
)
def test_an_operation_that_needs_an_id_says_so(reference: Deployment, name: str, scope: dict[str, str]) -> None:
    more: dict[str, dict[str, Any]] = {
        "put_fact": {"key": "a", "value": 1, "layer": "task"},
        "put_artifact": {"name": "a", "text": ""},
    }
    body = {"scope": {**ANN, **scope}, **more.get(name, {"text": "x"})}
    refused = _raw(reference, name, json.dumps(body).encode())
    _assert_problem(refused, 422)
    assert refused.json()["detail"] == f"this operation needs scope.{next(iter(scope))}"


def test_an_oversized_body_is_refused_unread(reference: Deployment) -> None:
    _assert_problem(_raw(reference, "append_turn", b" " * 1_000_001), 413)


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/v1/list_turns", 405), ("POST", "/v1/none", 404)])
def test_no_such_route_is_a_problem_too(reference: Deployment, method: str, path: str, status: int) -> None:
    _assert_problem(reference.runner.run(reference.client.request(method, path)), status)


def test_an_internal_failure_tells_nothing(reference: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: Any, scope: Any, limit: Any = None) -> Any:
        raise RuntimeError("a secret path")

    monkeypatch.setattr(type(reference.system.sessions), "turns", broken)
    failed = _raw(reference, "list_turns", json.dumps({"scope": ANN}).encode())
    _assert_problem(failed, 500)
    assert "secret" not in failed.text


def test_text_travels_and_comes_back_as_it_was(reference: Deployment) -> None:
    text = "tab\t quote\" 'null\x00 \u202e né é ｆｕｌｌ [pw:p12] \U0001f600 \u2028 </script>"
    at = tuple(ANN.values())
    reference.value("append_turn", at, text=text)
    assert reference.value("list_turns", at)[0]["text"] == text
    reference.value("run_turn", at, text=text)
    assert text in reference.prompts[-1]


def test_answers_are_not_to_be_stored_on_the_way(reference: Deployment) -> None:
    assert reference.post("list_sessions", tuple(ANN.values())).headers["cache-control"] == "no-store"


def test_every_part_of_the_system_is_named(reference: Deployment) -> None:
    assert isinstance(reference.system, System)
    assert reference.runner.run(reference.client.get("/healthz")).json() == {"status": "ok"}
