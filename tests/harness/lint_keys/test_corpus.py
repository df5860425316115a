"""The labelled snippets: everything that is a key built by hand is found, once, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from partywall.harness.lint_keys import RULES, check_source

HERE = Path(__file__).parent
HEAD = "=== "


def snippets(name: str) -> Iterator[tuple[str, str]]:
    """Head line and source of each snippet of a file."""
    for snippet in (HERE / name).read_text("utf-8").split(f"\n{HEAD}")[1:]:
        head, _, source = snippet.partition("\n")
        yield head, source


FOUND = dict(snippets("found.txt"))
CLEAN = dict(snippets("clean.txt"))


@pytest.mark.parametrize("head", FOUND)
def test_a_key_built_by_hand_is_found_once_and_told_what_it_lacks(head: str) -> None:
    _, rule, missing = (part.strip() for part in head.split("|"))
    checked = check_source(FOUND[head])
    assert checked.unread is None
    assert [(each.rule, " ".join(each.missing)) for each in checked.findings] == [(rule, missing)]


@pytest.mark.parametrize("head", CLEAN)
def test_what_is_no_key_built_by_hand_is_not_reported(head: str) -> None:
    checked = check_source(CLEAN[head])
    assert checked.unread is None
    assert [(each.rule, each.expression) for each in checked.findings] == []


def test_the_snippets_are_all_there_and_show_every_rule_on_keys() -> None:
    assert len(FOUND) >= 80
    assert len(CLEAN) >= 75
    assert {head.split("|")[1].strip() for head in FOUND} == {rule for rule in RULES if "suppression" not in rule}
