"""Ids are data: whatever stands in one, two ids share no row, no file and no partition."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from partywall.canaries import Level, Scope
from partywall.reference_impl.keys import path_segment
from partywall.reference_impl.refusals import Invalid

from .layouts import ANN, Stored

TWINS = [
    ("tenant-1", "tenant-10"),
    ("acme", "acme "),
    ("acme", "ACME"),
    ("acme", "acme\0"),
    ("a\0b", "a\x1ab"),
    ("a\0b", "a\x1a0000b"),
    ("é", "e\u0301"),
    ("acme", "ａｃｍｅ"),
    ("a|b", "a%7Cb"),
    ("a'b", "a''b"),
    ('a"b', 'a""b'),
    ("a?b", "a%sb"),
    ("a%b", "a_b"),
    ("a\\b", "a\\\\b"),
    ("../acme", "..%2Facme"),
    ("a/b", "a\\b"),
    ("acme.db", "acme"),
    ("-", "--"),
    ("x" * 200, "x" * 201),
    ("'); DROP SCHEMA public CASCADE; --", "')"),
    ("NULL", "null"),
    ("🜂", "🜃"),
]


def _scope(level: Level, identifier: str) -> Scope:
    ids = ["acme", "ann", "s1", "k1"]
    ids[level - 1] = identifier
    return Scope(*ids)


def _write(stored: Stored, scope: Scope, text: str) -> None:
    seen = stored.run(stored.system.sessions.version(scope))
    stored.append(scope, text, seen)


def _told(stored: Stored, scope: Scope) -> list[str]:
    return [turn.text for turn in stored.run(stored.system.sessions.history(scope, 10))]


@pytest.mark.parametrize("level", [Level.TENANT, Level.USER, Level.SESSION])
def test_twin_ids_share_nothing(rows: Stored, level: Level) -> None:
    for number, twins in enumerate(TWINS):
        # A task of its own for each pair: an id may stand in two of them.
        one, other = (replace(_scope(level, identifier), task=f"k{number}") for identifier in twins)
        _write(rows, one, "of one")
        _write(rows, other, "of other")
        assert (_told(rows, one), _told(rows, other)) == (["of one"], ["of other"]), twins
        rows.run(rows.system.purge.run(one, level))
        assert (_told(rows, one), _told(rows, other)) == ([], ["of other"]), twins


def test_twin_tasks_and_names_share_nothing(rows: Stored) -> None:
    put, get = rows.system.artifacts.put, rows.system.artifacts.get
    for twins in TWINS:
        one, other = (replace(_scope(Level.TASK, identifier), session=repr(twins)) for identifier in twins)
        _write(rows, one, "of one")
        _write(rows, other, "of other")
        assert (_told(rows, one), _told(rows, other)) == (["of one"], ["of other"]), twins
        for name in twins:
            rows.run(put(ANN, name, f"text of {name!r}"))
        assert [rows.run(get(ANN, name)) for name in twins] == [f"text of {name!r}" for name in twins]


def test_any_text_comes_back_as_it_was_written(rows: Stored) -> None:
    texts = [
        "\0",
        "\x1a",
        "a\x1a0000",
        "\x1a\x1a",
        "%s ? %% ''",
        "\\x00",
        "tab\tline\nfeed\r",
        "𝒳🜂",
        " ",
        "x" * 100_000,
    ]
    for seen, text in enumerate(texts):
        rows.append(ANN, text, seen or None)
    assert rows.texts(ANN) == texts


@pytest.mark.parametrize("level", [Level.TENANT, Level.USER, Level.SESSION])
def test_an_id_too_long_for_the_store_is_refused_whole_or_stored_whole(rows: Stored, level: Level) -> None:
    # Not repetitive: PostgreSQL compresses index entries.
    scope = _scope(level, "".join(chr(33 + (number * 7919) % 90) for number in range(8000)))
    refused = None
    try:
        rows.append(scope, "kept")
    except Invalid as refusal:
        refused = refusal.detail
    assert rows.texts(scope) == (["kept"] if refused is None else [])
    assert len(rows.run(rows.system.sessions.everywhere())) == (refused is None)
    assert refused is None or "too long" in refused


def test_no_id_climbs_out_of_its_folder() -> None:
    for one, other in TWINS:
        names = [path_segment(one), path_segment(other)]
        assert names[0].lower() != names[1].lower()
        assert not any("/" in name or "." in name or "\0" in name for name in names)


def test_ids_that_differ_by_one_letter_sort_apart(rows: Stored) -> None:
    names = ["Z", "a", "B", "é", "z", "_"]
    for name in names:
        rows.run(rows.system.artifacts.put(ANN, name, "x"))
    listed = rows.run(rows.system.artifacts.names(ANN))
    assert all(one.encode() < other.encode() for one, other in pairwise(listed))
