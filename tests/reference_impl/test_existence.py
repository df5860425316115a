"""What another scope holds is answered like what never was: by the same status, the same words, the same effects."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from partywall.reference_impl.app import OPERATIONS

from .deployment import Deployment

_NUMBER = count()
_INSTANT = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0, -1e300, 1.7e9])
_DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "at": _INSTANT,
    "expected_version": st.integers(-1, 3),
    "include_superseded": st.booleans(),
    "known_at": _INSTANT,
    "layer": st.sampled_from(["session", "task", "user"]),
    "level": st.sampled_from(["user", "session", "task"]),
    "limit": st.integers(0, 10_001),
    "role": st.sampled_from(["user", "assistant", "system"]),
    "valid_from": _INSTANT,
}
_NAMED = ("carry", "carry_from", "key", "memory_id", "name", "query", "request_id", "template", "text", "value")
"""Arguments that take the name."""


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
    return {field: asked.get(field, name) if field in _NAMED else value for field, value in drawn.items()}


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
    fields = OPERATIONS[name].model_fields
    given_ = {field: _DRAWN.get(field, st.just("")) for field in fields if field != "scope"}
    needed = {field: values for field, values in given_.items() if fields[field].is_required()}
    arguments = st.fixed_dictionaries(needed, optional={f: each for f, each in given_.items() if f not in needed})

    @settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
    @given(arguments, st.booleans())
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
