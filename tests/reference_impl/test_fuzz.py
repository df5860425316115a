"""Any body to any operation: a typed answer from the known set, no echo of what was sent, no sign of what others hold."""

from __future__ import annotations

import json
import re
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from partywall.reference_impl.app import OPERATIONS

from .deployment import Deployment

MARK = "hapaxzq"
"""Begins every text that is sent, so that any echo of any of them is seen."""
REFUSALS = {
    (403, "denied"),
    (404, "not_found"),
    (409, "conflict"),
    (410, "expired"),
    (413, "invalid"),
    (422, "invalid"),
    (429, "limited"),
    (503, "model_unavailable"),
}
_NUMBER = count()
_HOSTILE = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    ["", "|", "%", "../..", "\x00", "'; --", "é", "e\u0301", " ", "*", "{{a}}", "A", "a"]
)
_TEXT = _HOSTILE.map(lambda text: MARK + text)
_FLAT = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
_JSON = st.recursive(
    _FLAT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3), max_leaves=6
)
_INSTANT = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0, -1e300, 1e300, 2**70, 1.7e9])
_PLAUSIBLE: dict[str, st.SearchStrategy[Any]] = {
    "at": _INSTANT,
    "carry": st.lists(_TEXT, max_size=2),
    "carry_from": _TEXT,
    "expected_version": st.integers(-1, 3),
    "include_superseded": st.booleans(),
    "key": _TEXT,
    "known_at": _INSTANT,
    "layer": st.sampled_from(["session", "task", "user"]),
    "level": st.sampled_from(["user", "session", "task"]),
    "limit": st.integers(0, 10_001),
    "memory_id": _TEXT,
    "name": _TEXT,
    "query": _TEXT,
    "request_id": _TEXT,
    "role": st.sampled_from(["user", "assistant", "system"]),
    "template": _TEXT | _TEXT.map(lambda text: f"{text}{{{{{text}}}}}"),
    "text": _TEXT | _TEXT.map(lambda text: f"remember {text}"),
    "valid_from": _INSTANT,
    "value": _JSON,
}


def _scopes(named: dict[str, str]) -> st.SearchStrategy[Any]:
    """Mostly the caller's own scope, with any session and task; sometimes anything at all."""
    ids = {"session": st.just("") | _TEXT, "task": st.just("") | _TEXT}
    own = st.fixed_dictionaries({each: st.just(value) for each, value in named.items()}, optional=ids)
    return own | own | own | st.fixed_dictionaries({}, optional={each: _FLAT for each in (*named, *ids)}) | _JSON


def _bodies(name: str) -> st.SearchStrategy[Any]:
    fields = [field for field in OPERATIONS[name].model_fields if field != "scope"]
    given_ = {field: _PLAUSIBLE[field] | _PLAUSIBLE[field] | _JSON for field in fields}
    scope = {"scope": _scopes({"tenant": "acme", "user": "ann"})}
    whole = st.fixed_dictionaries({**scope, **given_})
    return whole | whole | st.fixed_dictionaries({}, optional={**scope, **given_, MARK: _JSON}) | _JSON


_RAW = st.binary(max_size=40).map(lambda raw: MARK.encode() + raw) | st.sampled_from(
    [b"[" * 5000, b'{"scope":' * 5000, b'{"scope": {"tenant": 1e999}}', b'"' + MARK.encode() + b'"', b"\xef\xbb\xbf{}"]
)
_ANY = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", OPERATIONS)
def test_whatever_is_sent_the_answer_is_typed_and_tells_nothing_of_it(reference: Deployment, name: str) -> None:
    token = reference.token("acme", "ann", lifetime=3600)

    @_ANY
    @given(_bodies(name).map(json.dumps).map(str.encode) | _RAW)
    def any_body(raw: bytes) -> None:
        headers = {"authorization": f"Bearer {token}"}
        answer = reference.runner.run(reference.client.post(f"/v1/{name}", content=raw, headers=headers))
        assert answer.headers["cache-control"] == "no-store"
        if answer.status_code == 200:
            assert list(answer.json()) == ["value"]
            return
        told = answer.json()
        assert (answer.status_code, told["code"]) in REFUSALS
        assert answer.headers["content-type"] == "application/problem+json"
        assert told["status"] == answer.status_code
        assert told["type"] == f"urn:partywall:problem:{told['code']}"
        # What names an ended session is the redacted scope, which locates it for its own user.
        echoed = answer.text if told["code"] != "expired" else answer.text.replace(told["detail"], "")
        assert MARK not in echoed + str(answer.headers)

    any_body()


def _sow(deployment: Deployment, owner: tuple[str, str], name: str) -> str:
    """Everything that can bear a name, under that name; the id of a memory."""
    at = (*owner, name, name)
    deployment.value("run_turn", at, text=name, request_id=name)
    for layer in ("session", "task", "user"):
        deployment.value("put_fact", at, key=name, value=name, layer=layer)
    deployment.value("render_artifact", at, name=name, template=f"{{{{{name}}}}}")
    memory_id: str = deployment.value("add_memory", at, text=name)
    return memory_id


def _named(name: str, memory_id: str, drawn: dict[str, Any]) -> dict[str, Any]:
    """The arguments drawn, with the name in every place that takes one."""
    asked = {"carry": [name], "memory_id": memory_id, "template": f"{{{{{name}}}}}"}
    texts = ("carry_from", "key", "name", "query", "request_id", "text", "value")
    return {field: asked.get(field, name if field in texts else value) for field, value in drawn.items()}


def _shape(answer: Any, *own: str) -> tuple[int, str]:
    """The answer without the names that were sent, nor what differs between any two calls."""
    text = answer.text
    for each in own:
        text = text.replace(each, "OWN")
    return answer.status_code, re.sub(r"[0-9a-f]{20,32}|u#[0-9a-f]{8}|\[pw:[^\]]*\]|\d+\.\d+", "OWN", text)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("owner", [("acme", "bob"), ("zeta", "ann")])
def test_what_another_holds_is_answered_like_what_never_was(
    reference: Deployment, name: str, owner: tuple[str, str]
) -> None:
    fields = [field for field in OPERATIONS[name].model_fields if field != "scope"]

    @settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.fixed_dictionaries({}, optional={field: _PLAUSIBLE[field] for field in fields}), st.booleans())
    def alike(drawn: dict[str, Any], in_session: bool) -> None:
        number = next(_NUMBER)
        taken, free = f"taken{number:06}q", f"never{number:06}q"
        memory_id = _sow(reference, owner, taken)
        shapes = []
        for user, told, memory in (("u1", taken, memory_id), ("u2", free, "m" + "0" * (len(memory_id) - 1))):
            mine = f"{user}x{number}"
            at = ("acme", mine, told, told) if in_session else ("acme", mine)
            answer = reference.post(name, at, **_named(told, memory, drawn))
            shapes.append(_shape(answer, told, memory, mine))
        assert shapes[0] == shapes[1]
        stranger = reference.token("acme", f"u3x{number}")
        there, nowhere = (
            reference.post(name, (*who, told, told), stranger, **_named(told, memory_id, drawn))
            for who, told in ((owner, taken), ((owner[0], f"u4x{number}"), free))
        )
        assert (there.status_code, there.content) == (nowhere.status_code, nowhere.content)

    alike()
