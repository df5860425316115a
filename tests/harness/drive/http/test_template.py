"""Templates: types are kept, everything is encoded by structure, and what has no place is not sent."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from partywall.harness.drive.http.template import (
    ABSENT,
    Inexpressible,
    compiled,
    names,
    render,
    render_fields,
    render_headers,
    render_path,
)

AWKWARD = [
    "..",
    ".",
    "",
    "a/b",
    "a:b",
    "%",
    "_",
    "*",
    "a|b",
    "\x00",
    "ü",
    "ｕ１",
    "u1 ",
    "?x=1",
    "#f",
    "%2F",
    "\r\nx: y",
    "😀",
]


@pytest.mark.parametrize("value", [1, 1.5, True, None, ["a"], {"b": 1}, "text", ""])
def test_a_placeholder_that_is_the_whole_text_keeps_its_type(value: Any) -> None:
    assert render(compiled({"x": "{{v}}"}), {"v": value}) == {"x": value}


def test_an_optional_placeholder_leaves_its_entry_out_where_it_is_none() -> None:
    node = compiled({"a": "{{v?}}", "b": ["{{v?}}", 1], "c": "with {{v?}}", "d": {"e": "{{ v? }}"}})
    assert render(node, {"v": None}) == {"b": [1], "d": {}}
    assert render(node, {"v": 0}) == {"a": 0, "b": [0, 1], "c": "with 0", "d": {"e": 0}}


def test_a_whole_template_may_be_absent() -> None:
    assert render(compiled("{{v?}}"), {"v": None}) is ABSENT


def test_inside_a_text_values_are_written_as_json_writes_them() -> None:
    values = {"t": True, "n": 2, "d": {"a": 1}, "s": "s"}
    assert render(compiled("{{t}} {{n}} {{d}} {{s}}"), values) == 'true 2 {"a": 1} s'


def test_none_inside_a_text_is_not_sent() -> None:
    with pytest.raises(Inexpressible, match="'v' is None"):
        render(compiled("user {{v}}"), {"v": None})


@pytest.mark.parametrize("value", ['","admin":true,"x":"', "{{other}}", "${HOME}", "\\", "\n"])
def test_what_a_value_holds_is_never_read_as_structure_or_template(value: str) -> None:
    assert render(compiled({"a": "{{v}}", "b": "-{{v}}-"}), {"v": value, "other": 1}) == {"a": value, "b": f"-{value}-"}


@pytest.mark.parametrize("value", AWKWARD)
def test_a_value_stays_one_segment_of_a_path(value: str) -> None:
    path = render_path(compiled("/s/{{v}}/turns"), {"v": value})
    assert path.count("/") == 3
    assert not {"?", "#", "\r", "\x00"} & set(path)
    assert "/../" not in path
    assert "/./" not in path
    assert unquote(path) == f"/s/{value}/turns"


def test_a_path_cannot_hold_none() -> None:
    with pytest.raises(Inexpressible):
        render_path(compiled("/s/{{v}}"), {"v": None})


def test_fields_repeat_the_name_of_an_array_and_leave_out_what_is_absent() -> None:
    node = compiled({"a": ["{{v}}", 2], "b": "{{n?}}", "c": True})
    assert render_fields(node, {"v": "x", "n": None}) == [("a", "x"), ("a", "2"), ("c", "true")]


def test_a_field_cannot_hold_none() -> None:
    with pytest.raises(Inexpressible):
        render_fields(compiled({"a": "{{v}}"}), {"v": None})


@pytest.mark.parametrize("value", ["a\r\nx: y", "\x00", " u1", "u1 ", "\tu", None])
def test_a_header_that_would_arrive_as_another_is_not_sent(value: str | None) -> None:
    with pytest.raises(Inexpressible):
        render_headers(compiled({"x-user": "{{v}}"}), {"v": value})


def test_names_are_found_wherever_they_stand() -> None:
    assert list(names(compiled({"a": ["{{x}}", {"b": "{{y?}} {{identity.user}}"}]}))) == ["x", "y", "identity.user"]


@pytest.mark.parametrize("text", ["{{", "{{}}", "{{a b}}", "{{a|upper}}", "{{A}}", "{{a.b.c}}", "x {{ y"])
def test_braces_that_begin_no_placeholder_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="neither"):
        compiled({"a": [text]})


def test_single_braces_are_plain_text() -> None:
    assert render(compiled('{"a": {}}'), {}) == '{"a": {}}'
