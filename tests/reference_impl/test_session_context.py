"""A session context protects its representation against everything done to what goes in and comes out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from partywall.reference_impl.session_context import MAX_MESSAGES, ROLES, SessionContext

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


_MESSAGES = st.fixed_dictionaries({"role": st.sampled_from(sorted(ROLES)), "content": st.text(min_size=1, max_size=8)})
_BROKEN = st.one_of(
    st.none(),
    st.integers(),
    st.lists(st.text(max_size=3), max_size=3),
    st.dictionaries(st.sampled_from(["role", "content", "name"]), st.none() | st.text(max_size=4), max_size=3).filter(
        lambda message: not _whole(message)
    ),
)


def _whole(message: dict[str, Any]) -> bool:
    return set(message) == {"role", "content"} and message["role"] in ROLES and bool(message["content"])


def _destroyed(messages: Any) -> None:
    """Everything that can be done to what was handed over."""
    for message in messages:
        if isinstance(message, dict):
            message.clear()
            message["role"] = object()
    if isinstance(messages, list):
        messages.reverse()
        messages.append({"role": "intruder"})


class Destroyers(RuleBasedStateMachine):
    """A context and the list of messages that it must stand for, under every hand that reaches for its inside."""

    def __init__(self) -> None:
        super().__init__()
        self.context = SessionContext()
        self.model: list[dict[str, str]] = []

    @rule(messages=st.lists(_MESSAGES, max_size=30))
    def extend_and_destroy_what_was_passed(self, messages: list[dict[str, str]]) -> None:
        wanted = [dict(message) for message in messages]
        if len(self.model) + len(wanted) > MAX_MESSAGES:
            with pytest.raises(ValueError, match="at most 100"):
                self.context.extend(messages)
        else:
            self.context.extend(messages)
            self.model += wanted
        _destroyed(messages)

    @rule(message=_MESSAGES)
    def add_and_destroy_what_was_passed(self, message: dict[str, str]) -> None:
        wanted = dict(message)
        if len(self.model) < MAX_MESSAGES:
            self.context.add(message)
            self.model.append(wanted)
        else:
            with pytest.raises(ValueError, match="at most 100"):
                self.context.add(message)
        _destroyed([message])

    @rule(good=st.lists(_MESSAGES, max_size=3), bad=_BROKEN)
    def a_bad_one_among_good_ones_changes_nothing(self, good: list[dict[str, str]], bad: Any) -> None:
        with pytest.raises(ValueError, match=r"message|role|content"):
            self.context.extend([*good, bad])

    @rule()
    def destroy_what_was_handed_out(self) -> None:
        _destroyed(self.context.messages())

    @rule()
    def a_copy_goes_its_own_way(self) -> None:
        other = SessionContext(self.context.messages())
        assert other == self.context
        if len(self.model) < MAX_MESSAGES:
            other.add(SAID)
            assert other != self.context

    @invariant()
    def it_stands_for_its_messages(self) -> None:
        assert self.context.messages() == self.model
        assert len(self.context) == len(self.model) <= MAX_MESSAGES


TestDestroyers = Destroyers.TestCase
"""Run by pytest under this name."""


def test_a_mapping_that_answers_otherwise_the_second_time_is_read_once() -> None:
    class Shifting(dict[str, str]):
        def __getitem__(self, key: str) -> str:
            value = super().__getitem__(key)
            self[key] = "intruder"
            return value

    context = SessionContext([Shifting(SAID)])
    assert context.messages() == context.messages() == [SAID]


def test_text_of_a_class_of_its_own_is_kept_as_plain_text() -> None:
    class Loud(str):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = str.__hash__

    context = SessionContext([{"role": "user", "content": Loud("hello")}])
    assert type(context.messages()[0]["content"]) is str
    with pytest.raises(ValueError, match="role"):
        SessionContext([{"role": Loud("intruder"), "content": "hello"}])
