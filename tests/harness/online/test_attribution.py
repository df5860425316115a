"""Whose a record is, and what in it is own input: read from fields, never guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from partywall.canaries import Level, UsageError
from partywall.harness.online.fields import Fields, JsonRecord
from partywall.harness.online.record import levels_named


def read(document: Any, names: str = "", **more: Any) -> JsonRecord:
    record = Fields.parse(names, **more).read(json.dumps(document).encode())
    assert isinstance(record, JsonRecord)
    return record


@pytest.mark.parametrize(
    ("document", "viewer"),
    [
        ({"tenant": "a", "user": "b", "session": "c", "task": "d"}, ("a", "b", "c", "d")),
        ({"tenant_id": "a", "user_id": "b", "conversation_id": "c", "task_id": "d"}, ("a", "b", "c", "d")),
        ({"tenant": "a", "tenant_id": "z"}, ("a", None, None, None)),
        ({"tenant": 42, "user": -1}, ("42", "-1", None, None)),
        ({"tenant": True, "tenant_id": 1.5}, (None, None, None, None)),
        ({"tenant": ["a"], "tenant_id": {"a": "b"}}, (None, None, None, None)),
        ({"tenant": ""}, (None, None, None, None)),
        ({"user": "b"}, (None, None, None, None)),
        ({"tenant": None, "tenant_id": "a"}, ("a", None, None, None)),
        ({}, (None, None, None, None)),
    ],
)
def test_ids_are_texts_or_whole_numbers_and_the_first_hit_wins(document: Any, viewer: Any) -> None:
    assert read(document).viewer == viewer


def test_a_mapping_reaches_into_objects_unless_a_field_is_named_so() -> None:
    record = read({"org.id": "x", "org": {"id": "a"}, "me": {"uid": "b"}}, "tenant=org.id,user=nobody|me.uid")
    assert record.viewer == ("x", "b", None, None)


def test_a_record_without_a_tenant_is_the_observers_as_a_whole_and_is_not_mixed_with_it() -> None:
    assert read({"user": "b"}, otherwise=("a", None, None, None)).viewer == ("a", None, None, None)


@pytest.mark.parametrize(
    ("viewer", "deepest"),
    [
        (("a", "b", "c", "d"), 4),
        (("a", "b", "", ""), 4),
        (("a", "b", None, "d"), 2),
        (("a", None, "c", None), 1),
        (("a", "", "c", "d"), 1),
        (("", "b", "c", "d"), 0),
        ((None, "b", "c", "d"), 0),
    ],
)
def test_a_record_is_judged_at_the_levels_it_names_without_a_gap(viewer: Any, deepest: int) -> None:
    assert levels_named(viewer) == frozenset(Level(level) for level in range(1, deepest + 1))


def test_own_input_is_what_the_fields_say_and_everything_else_is_derived() -> None:
    document = {
        "tenant": "a",
        "input": {"text": ["one"]},
        "messages": [{"role": "user", "content": "two"}, {"role": "assistant", "content": "three"}, "four"],
        "reply": "one",
    }
    record = read(document)
    assert {"one", "two"} <= set(record.own())
    derived = [text for _, text in record.shown()]
    assert {"three", "four"} <= set(derived)
    assert "two" not in derived
    assert derived.count("one") == 1, "an equal text elsewhere stays derived"


def test_the_channel_is_told_by_the_outermost_field() -> None:
    shown = {text: channel for channel, text in read({"prompt": "p", "search": ["s"], "x": "o"}).shown()}
    assert (shown["p"], shown["s"], shown["o"]) == ("prompt", "search", "reply")


@pytest.mark.parametrize("names", ["tenat=x", "tenant", "tenant=", "tenant=a||b", "=x"])
def test_a_mapping_that_cannot_be_read_is_refused(names: str) -> None:
    with pytest.raises(UsageError):
        Fields.parse(names)


@pytest.mark.parametrize("own", ["a[b", "a]", "[role=user]", "messages[role]"])
def test_own_input_that_cannot_be_read_is_refused(own: str) -> None:
    with pytest.raises(UsageError, match="own input"):
        Fields.parse(own=own)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"nope", "not_json"),
        (b'{"a": ', "not_json"),
        (b"[[[1]]]", "not_an_object"),
        (b'"text"', "not_an_object"),
        (b"null", "not_an_object"),
        (b"[" * 100_000, "too_deep"),
        (b'{"a":' * 100_000, "too_deep"),
        (b'{"tenant": ' + b"9" * 5000 + b"}", "not_json"),
        (b"\xff\xfe{", "not_json"),
    ],
)
def test_a_line_that_is_no_record_says_why(raw: bytes, reason: str) -> None:
    assert Fields.parse().read(raw) == reason


def test_ids_that_are_no_utf_8_stay_apart() -> None:
    viewers = [Fields.parse().read(b'{"tenant":"a%c"}' % byte) for byte in (0xFE, 0xFF)]
    assert len({one.viewer for one in viewers if isinstance(one, JsonRecord)}) == 2


def test_what_a_copying_rotation_leaves_before_a_line_is_not_part_of_it() -> None:
    record = Fields.parse().read(b"\0" * 50 + b'{"tenant":"a"}')
    assert isinstance(record, JsonRecord)
    assert record.viewer[0] == "a"
