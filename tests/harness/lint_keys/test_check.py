"""One source text: where a finding stands, what it says, who makes keys, what cannot be read."""

from __future__ import annotations

import pytest
from partywall.canaries import UsageError
from partywall.harness.lint_keys import Finding, check_source

KEY = 'cache[f"a:{question}"]'


def only(source: str | bytes, *makers: str) -> Finding:
    checked = check_source(source, "app.py", makers)
    assert checked.unread is None
    assert len(checked.findings) == 1, checked.findings
    return checked.findings[0]


def test_a_finding_names_the_place_the_sink_and_the_dimensions() -> None:
    found = only('def ask(question):\n    key = f"a:{question}"\n    return cache.get(key)\n')
    assert (found.path, found.line, found.column, found.end_line, found.end_column) == ("app.py", 2, 11, 2, 26)
    assert (found.sink, found.sink_line) == ("cache.get(…)", 3)
    assert (found.names, found.missing) == (("request content",), ("tenant", "user"))


def test_a_finding_is_one_sentence() -> None:
    assert only(KEY).message == (
        '`f"a:{question}"` is put together by hand for cache[…] and names no tenant and no user: '
        "let the scope object make the key of scope, purpose and payload"
    )


def test_a_key_that_names_everything_is_told_why_it_is_wrong_all_the_same() -> None:
    assert "lets an id that holds a separator spell the key of another" in only('cache[f"{tenant}:{user}"]').message


def test_columns_count_characters_not_bytes() -> None:
    found = only('x = ("ÄÖÜ", cache[f"ä:{question}"])')
    assert (found.column, found.end_column) == (19, 34)
    assert found.expression == 'f"ä:{question}"'


def test_lines_are_those_of_the_parser_where_a_form_feed_or_a_separator_stands_in_the_text() -> None:
    assert only(f'"""a\x0cb\u2028c"""\r\n\x0c\r\n{KEY}').line == 3


def test_a_long_expression_is_cut_and_shown_on_one_line_without_control_characters() -> None:
    shown = only('cache[f"\x1b[31m\u202e{question}' + "x" * 200 + '"]').expression
    assert len(shown) < 100
    assert shown.isprintable()
    assert "\\x1b[31m\\u202e{question}" in shown


def test_one_key_that_reaches_two_places_of_a_kind_is_told_once() -> None:
    only('def ask(question):\n    key = "a" + question\n    if key in cache:\n        return cache[key]\n')


def test_one_key_that_reaches_two_kinds_of_places_is_told_for_each() -> None:
    checked = check_source('def ask(question):\n    key = "a" + question\n    cache[key] = locks[key]\n')
    assert [each.rule for each in checked.findings] == ["hand-built-cache-key", "hand-built-lock-key"]


def test_a_mapping_keyed_by_a_bare_name_is_told_where_it_is_first_used() -> None:
    assert only("def ask(question):\n    cache.get(question)\n    cache[question] = 1\n").line == 2


@pytest.mark.parametrize("maker", ["key_for", "scoping.key_for", "app.scoping.key_for"])
def test_a_declared_function_makes_keys(maker: str) -> None:
    source = 'from app import scoping\ncache[scoping.key_for(user) + f":{question}"]\n'
    assert check_source(source, makers=[maker]).findings == ()


def test_another_function_of_the_same_file_does_not() -> None:
    source = 'def other(user):\n    return f"u:{user}"\ncache[other(user)]\n'
    assert len(check_source(source, makers=["key_for"]).findings) == 1
    assert check_source(source, makers=["other"]).findings == ()


def test_a_declared_class_makes_keys_and_is_not_looked_into() -> None:
    source = 'class Naming:\n    def path(self, user):\n        return open(f"/d/{user}")\ncache[Naming().path(user)]\n'
    assert len(check_source(source).findings) == 1
    assert check_source(source, makers=["Naming"]).findings == ()


@pytest.mark.parametrize("maker", ["", "a b", "a.", ".a", "1a", "f()", "a-b"])
def test_a_maker_that_is_no_name_is_refused(maker: str) -> None:
    with pytest.raises(UsageError, match="is no name of a function or class"):
        check_source(KEY, makers=[maker])


@pytest.mark.parametrize(
    ("source", "line", "why"),
    [
        ("x = (\n", 1, "'(' was never closed"),
        ("x = 1\ny = = 2\n", 2, "invalid syntax"),
        (b"x = '\xff'\n", 0, "utf-8"),
        ("x = 1\0", 0, "null byte"),
        ("x = '\ud800'", 0, "surrogates not allowed"),
        (b"# coding: nothing-of-that-name\n", 0, "nothing-of-that-name"),
    ],
)
def test_what_is_no_python_is_told(source: str | bytes, line: int, why: str) -> None:
    unread = check_source(source).unread
    assert unread is not None
    assert unread.line in (line, 1)
    assert unread.why.startswith("syntax error: ")
    assert why in unread.why


def test_another_encoding_is_read_as_it_is_declared() -> None:
    assert only('# coding: latin-1\ncache[f"\u00e4{question}"]\n'.encode("latin-1")).expression == 'f"ä{question}"'
    assert only(b"\xef\xbb\xbf" + KEY.encode()).column == 7


@pytest.mark.parametrize("source", ["(" * 5000, "[" * 90 + "]" * 90, "-" * 100_000 + "1", "x" + ".a" * 20_000])
def test_deep_nesting_is_read_or_told(source: str) -> None:
    checked = check_source(source)
    assert checked.findings == ()
    assert checked.unread is None or "nested" in checked.unread.why


def test_a_sum_of_thousands_and_hundreds_of_branches_are_followed() -> None:
    chain = "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    pass\n" for n in range(400))
    only(chain + "key = " + " + ".join(['"x"'] * 900) + " + question\ncache[key]\n")


def test_a_chain_of_calls_takes_no_longer_than_its_length() -> None:
    only("def ask(question):\n    return cache.get(question" + ".replace('a', 'b').strip()" * 60 + ")\n")


def test_functions_that_call_each_other_end() -> None:
    source = 'def a(q):\n    return b(q) or f"a:{q}"\ndef b(q):\n    return a(q)\ncache[a(question)]\n'
    assert only(source).rule == "hand-built-cache-key"
