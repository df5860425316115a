"""Our own four source roots build no key by hand, save where a comment says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from partywall.harness.lint_keys import check_paths

REPOSITORY = Path(__file__).resolve().parents[3]
ROOTS = ("canaries", "harness", "scenarios", "reference_impl")


@pytest.mark.parametrize("root", ROOTS)
def test_a_source_root_builds_no_key_by_hand(root: str) -> None:
    report = check_paths([REPOSITORY / root])
    assert report.files > 10
    assert report.unread == ()
    assert [f"{each.path}:{each.line} {each.rule} {each.expression}" for each in report.findings] == []
