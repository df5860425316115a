"""JSON Pointer as RFC 6901 has it."""

from __future__ import annotations

from typing import Any

import pytest
from partywall.harness.drive.http.pointer import MISSING, first, parse, resolve

DOCUMENT: dict[str, Any] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_the_examples_of_the_standard_resolve(pointer: str, value: Any) -> None:
    assert resolve(DOCUMENT, parse(pointer)) == value


def test_an_escaped_tilde_before_a_one_is_no_slash() -> None:
    assert resolve({"~1": "tilde one", "/": "slash"}, parse("/~01")) == "tilde one"


@pytest.mark.parametrize("pointer", ["/foo/2", "/foo/-", "/foo/00", "/foo/-1", "/foo/x", "/bar", "/foo/0/0", "/foo/٣"])
def test_what_is_not_there_is_missing(pointer: str) -> None:
    assert resolve(DOCUMENT, parse(pointer)) is MISSING


def test_null_is_a_value() -> None:
    assert resolve({"a": None}, parse("/a")) is None


def test_first_takes_the_first_that_resolves_even_to_null() -> None:
    assert first({"b": None, "c": 1}, (parse("/a"), parse("/b"), parse("/c"))) is None
    assert first({}, (parse("/a"),)) is MISSING


@pytest.mark.parametrize(("pointer", "told"), [("foo", "begin with '/'"), ("/a~2", "neither"), ("/a~", "neither")])
def test_what_is_no_pointer_is_refused(pointer: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse(pointer)
