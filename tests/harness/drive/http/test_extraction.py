"""From an answer to the contract's value; what does not stand where it should is unknown, never empty."""

from __future__ import annotations

from typing import Any

import pytest
from partywall.harness.drive.http.extraction import Extraction, OkWhen, Unreadable, extract
from partywall.harness.drive.http.pointer import parse
from partywall.harness.plan.operation import Shape


def reading(items: str | None = None, **members: str | list[str]) -> Extraction:
    return Extraction(
        items=None if items is None else (parse(items),),
        members={
            name: tuple(map(parse, [where] if isinstance(where, str) else where)) for name, where in members.items()
        },
    )


def taken(extraction: Extraction, document: Any, shape: Shape = Shape.TURNS, acknowledges: bool = False) -> Any:
    return extract(extraction, document, shape, acknowledges)


def test_value_is_the_contracts_value_as_it_is() -> None:
    extraction = Extraction(value=(parse("/value"),))
    assert taken(extraction, {"value": [{"turn": 1}]}) == [{"turn": 1}]
    assert taken(extraction, {"value": None}) is None


def test_turns_are_read_item_by_item() -> None:
    document = {"items": [{"n": 1, "who": "user", "body": "hi"}, {"n": 2, "who": "bot", "body": "ho"}]}
    assert taken(reading("/items", turn="/n", role="/who", text="/body"), document) == [
        {"turn": 1, "role": "user", "text": "hi"},
        {"turn": 2, "role": "bot", "text": "ho"},
    ]


def test_text_alone_gives_plain_texts_and_the_empty_pointer_is_the_item() -> None:
    assert taken(reading("", text=""), ["a", "b"]) == ["a", "b"]


def test_of_several_pointers_the_first_that_resolves_counts() -> None:
    assert taken(reading("", text=["/a", "/b"]), [{"b": "1"}, {"a": "2", "b": "3"}]) == ["1", "2"]


def test_content_that_is_no_text_stays_findable() -> None:
    assert taken(reading("", text="/c"), [{"c": [{"type": "text", "text": "ü"}]}, {"c": None}]) == [
        '[{"type": "text", "text": "ü"}]',
        "",
    ]


def test_items_without_text_are_passed_over_but_not_all_of_them() -> None:
    assert taken(reading("", text="/c"), [{"c": "a"}, {"tool": 1}]) == ["a"]
    with pytest.raises(Unreadable, match="none of 2 items holds /c"):
        taken(reading("", text="/c"), [{"d": "a"}, {"tool": 1}])


def test_where_keeps_equal_items_and_true_is_not_one() -> None:
    extraction = Extraction(items=((),), members={"text": (("t",),)}, where=((("k",), 1),))
    assert taken(extraction, [{"k": 1, "t": "a"}, {"k": True, "t": "b"}, {"t": "c"}]) == ["a"]


def test_where_that_keeps_nothing_is_an_empty_list() -> None:
    assert taken(Extraction(items=((),), members={"text": (("t",),)}, where=((("k",), 1),)), [{"k": 2}]) == []


def test_descending_order_is_turned_round() -> None:
    assert taken(Extraction(items=((),), descending=True), [3, 2, 1], Shape.RECORDS) == [1, 2, 3]


def test_items_that_are_not_there_are_unknown_and_not_none() -> None:
    with pytest.raises(Unreadable, match="nothing at /items"):
        taken(reading("/items", text=""), {})
    with pytest.raises(Unreadable, match="/items is no list"):
        taken(reading("/items", text=""), {"items": {"a": 1}})


def test_items_that_may_be_missing_are_none() -> None:
    assert taken(Extraction(items=(parse("/items"),), lenient=True), {}) == []
    assert taken(Extraction(value=(parse("/v"),), lenient=True), {}) == []
    assert taken(Extraction(value=(parse("/v"),), lenient=True), {}, Shape.TEXT) is None


def test_a_reply_that_is_not_there_is_unknown() -> None:
    with pytest.raises(Unreadable, match="nothing at /reply or /text"):
        taken(reading(text=["/reply", "/text"]), {}, Shape.REPLY)


def test_an_acknowledgement_without_its_id_has_no_value() -> None:
    assert taken(reading(id="/id"), {}, Shape.IDENTIFIER, acknowledges=True) is None
    assert taken(reading(id="/id"), {"id": "m1"}, Shape.IDENTIFIER, acknowledges=True) == "m1"
    assert taken(reading(turn="/n"), {"n": 3}, Shape.TURN_ACK, acknowledges=True) == {"turn": 3}


def test_names_are_texts() -> None:
    assert taken(reading("", id="/id"), [{"id": 7}, {"id": "s"}], Shape.NAMES) == ["7", "s"]


def test_a_format_of_text_is_the_whole_body() -> None:
    assert taken(Extraction(format="text"), "lines", Shape.LINES) == "lines"


@pytest.mark.parametrize(
    ("document", "broken"),
    [
        ({"status": "done", "out": None}, ""),
        ({"status": "failed", "out": 1}, "/status is not 'done'"),
        ({"out": 1}, "/status is not 'done'"),
        ({"status": "done"}, "nothing at /out"),
        ({"status": "done", "out": 1, "__error__": {}}, "something at /__error__"),
        ([], "/status is not 'done'"),
        (None, "/status is not 'done'"),
    ],
)
def test_ok_when_says_what_is_wrong(document: Any, broken: str) -> None:
    rule = OkWhen(((("status",), "done"),), (("out",),), (("__error__",),))
    assert rule.broken(document) == broken
