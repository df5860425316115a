"""A comment lets one finding be, for a reason; a comment that does nothing is itself reported."""

from __future__ import annotations

import pytest
from partywall.harness.lint_keys import check_source

ALLOW = "# partywall: allow hand-built-cache-key"
KEY = 'cache[f"a:{question}"] = 1'


def rules(source: str) -> list[str]:
    checked = check_source(source)
    assert checked.unread is None
    return [each.rule for each in checked.findings]


@pytest.mark.parametrize("dash", ["—", "–", "--", "-", ":"])
def test_a_comment_with_a_reason_suppresses_on_its_line(dash: str) -> None:
    checked = check_source(f"{KEY}  {ALLOW} {dash} one tenant only\n")
    assert (checked.findings, checked.suppressed) == ((), 1)


@pytest.mark.parametrize(
    "source",
    [
        f"{ALLOW} — why\n{KEY}\n",
        f'cache[\n    f"a:{{question}}"\n] = 1  {ALLOW} — why\n',
        f'cache[  {ALLOW} — why\n    f"a:{{question}}"\n] = 1\n',
        f'if f"a:{{question}}" in cache:  {ALLOW} — why\n    pass\n',
    ],
)
def test_it_may_stand_on_any_line_of_the_statement_or_alone_above_it(source: str) -> None:
    assert rules(source) == []


@pytest.mark.parametrize(
    "source",
    [
        f"{ALLOW} — why\n\n{KEY}\n",
        f"{KEY}\n{ALLOW} — why\n",
        f"x = 1  {ALLOW} — why\n{KEY}\n",
        f'if f"a:{{question}}" in cache:\n    x = 1  {ALLOW} — why\n',
    ],
)
def test_it_holds_for_no_other_line(source: str) -> None:
    assert sorted(rules(source)) == ["hand-built-cache-key", "suppression-unused"]


@pytest.mark.parametrize("end", ["", " ", " —", " one tenant only", " -- "])
def test_a_comment_without_a_reason_suppresses_nothing_and_is_reported(end: str) -> None:
    assert sorted(rules(f"{KEY}  {ALLOW}{end}\n")) == ["hand-built-cache-key", "suppression-without-reason"]


def test_a_comment_that_suppresses_nothing_is_reported_at_its_place() -> None:
    (found,) = check_source(f"x = 1  {ALLOW} — why\n", "a.py").findings
    assert (found.rule, found.line, found.column) == ("suppression-unused", 1, 8)
    assert found.message == "`allow hand-built-cache-key` suppresses nothing: take the comment out"


def test_a_comment_for_another_rule_suppresses_nothing() -> None:
    assert sorted(rules(f"{KEY}  # partywall: allow hand-built-path — why\n")) == [
        "hand-built-cache-key",
        "suppression-unused",
    ]


def test_one_comment_may_name_several_rules_and_each_must_be_of_use() -> None:
    both = "# partywall: allow hand-built-cache-key, hand-built-lock-key — why"
    assert rules(f'cache[f"{{question}}"] = locks[f"{{user}}"]  {both}\n') == []
    assert rules(f"{KEY}  {both}\n") == ["suppression-unused"]


@pytest.mark.parametrize("rule", ["hand-built-cash-key", "suppression-unused", ""])
def test_a_rule_that_cannot_be_allowed_is_reported(rule: str) -> None:
    assert "suppression-unknown-rule" in rules(f"x = 1  # partywall: allow {rule} — why\n")


def test_a_comment_in_a_text_is_none() -> None:
    assert rules(f'x = """\n{ALLOW}\n"""\n') == []
    assert rules(f'{KEY}; y = "{ALLOW} — why"\n') == ["hand-built-cache-key"]
