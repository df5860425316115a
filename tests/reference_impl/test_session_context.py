"""A session context protects its representation against everything done to what goes in and comes out."""

from __future__ import annotations

from typing import Any

import pytest
from partywall.reference_impl.session_context import MAX_MESSAGES, SessionContext

SAID = {"role": "user", "content": "hello"}


def test_changing_what_was_passed_in_changes_nothing() -> None:
    message = dict(SAID)
    given = [message]
    context = SessionContext(given)
    message["content"] = "changed"
    given.append({"role": "user", "content": "more"})
    assert context.messages() == [SAID]


def test_changing_what_was_handed_out_changes_nothing() -> None:
    context = SessionContext([SAID])
    handed = context.messages()
    handed[0]["role"] = "system"
    handed.clear()
    assert context.messages() == [SAID]


def test_two_contexts_share_nothing() -> None:
    one, other = SessionContext(), SessionContext()
    one.add(SAID)
    assert len(other) == 0
    assert one != other


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "text",
        ["user", "hello"],
        {"role": "user"},
        {"content": "hello"},
        {"role": "tool", "content": "hello"},
        {"role": "user", "content": ""},
        {"role": "user", "content": 5},
        {"role": ["user"], "content": "hello"},
        {"role": "user", "content": "hello", "name": "x"},
    ],
)
def test_a_bad_message_is_refused_and_leaves_no_trace(bad: Any) -> None:
    context = SessionContext([SAID])
    with pytest.raises(ValueError, match=r"message|role|content"):
        context.extend([SAID, bad])
    assert context.messages() == [SAID]


def test_the_hundred_and_first_message_is_refused() -> None:
    context = SessionContext([SAID] * MAX_MESSAGES)
    with pytest.raises(ValueError, match="at most 100"):
        context.add(SAID)
    assert len(context) == MAX_MESSAGES


def test_a_failing_iterable_adds_nothing() -> None:
    def broken() -> Any:
        yield SAID
        raise RuntimeError("half-way")

    context = SessionContext()
    with pytest.raises(RuntimeError):
        context.extend(broken())
    assert len(context) == 0


def test_no_attribute_can_be_added() -> None:
    with pytest.raises(AttributeError):
        SessionContext().extra = 1  # type: ignore[attr-defined]
