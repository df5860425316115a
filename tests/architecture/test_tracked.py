"""What git may track: no registry, no machine, no lock of a tool; and the CI runs what the README shows."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from . import tracked as rules
from .source import REPOSITORY
from .synthetic import Rule, plant, rules_of
from .tracked import addresses_in_locks, broken_links, foreign_names, locks_of_tools, tracked, untested_readme

checkout = pytest.mark.skipif(
    not (REPOSITORY / ".ci" / "run").exists(),
    reason="a source distribution does not hold the files of the checkout",
)


def test_the_files_that_are_judged_are_there() -> None:
    assert REPOSITORY / "pyproject.toml" in tracked(REPOSITORY)


def test_no_lock_file_of_a_tool_is_tracked() -> None:
    assert locks_of_tools(REPOSITORY) == []


def test_no_lock_file_holds_an_address() -> None:
    assert addresses_in_locks(REPOSITORY) == []


def test_no_tracked_file_names_a_registry_or_a_path_of_a_machine() -> None:
    assert foreign_names(REPOSITORY) == []


@checkout
def test_ci_calls_the_test_command_of_the_readme() -> None:
    assert untested_readme(REPOSITORY) == []


README = "Run it:\n```\n$ make verify\n$ make test   # the tests\n```\n"
BROKEN: list[tuple[str, Rule, Mapping[str, str], str]] = [
    *[
        (f"{name} is tracked", locks_of_tools, {f"docs/{name}": ""}, f"docs/{name} is tracked")
        for name in ("uv.lock", "pylock.toml", "pylock.dev.toml", "poetry.lock")
    ],
    (
        "a lock with a URL",
        addresses_in_locks,
        {"requirements.lock": "a @ https://example.test/a.whl"},
        "holds an address",
    ),
    (
        "a requirements file with an index",
        addresses_in_locks,
        {"requirements-x.txt": "--index-url mirror"},
        "holds an address",
    ),
    ("the registry", foreign_names, {"docs/a.md": "see " + "pypi" + ".org"}, "docs/a.md:1 names"),
    ("the registry's files", foreign_names, {"a.txt": "\nfiles.python" + "hosted.org"}, "a.txt:2 names"),
    ("a path of a machine", foreign_names, {"a.py": 'x = "/wor' + 'k/main"'}, "a.py:1 names '/wor" + "k/'"),
    ("a home", foreign_names, {"a.py": 'x = "/hom' + 'e/ann/x"'}, "a.py:1 names"),
    ("the home of root", foreign_names, {"a.py": "cd /ro" + "ot"}, "a.py:1 names"),
    (
        "a CI without the command",
        untested_readme,
        {"README.md": README, ".ci/run": "pytest\n"},
        "'make test'",
    ),
    (
        "a CI with the command in a comment",
        untested_readme,
        {"README.md": README, ".ci/run": "# make test\n"},
        "'make test'",
    ),
    (
        "a CI with more than the command",
        untested_readme,
        {"README.md": README, ".ci/run": "make test X=1\n"},
        "'make test'",
    ),
    (
        "a README without a command",
        untested_readme,
        {"README.md": "`make test`", ".ci/run": "make test\n"},
        "shows no test",
    ),
    (
        "a dead link",
        broken_links,
        {"README.md": "[a](docs/a.md)"},
        "links to 'docs/a.md', which is not there",
    ),
    ("a dead picture", broken_links, {"docs/a.md": "![a](a.png)"}, "links to 'a.png', which is not there"),
    (
        "a dead anchor",
        broken_links,
        {"a.md": "[a](b.md#two)", "b.md": "# One\n"},
        "that page has no such heading",
    ),
]

SOUND: dict[str, str] = {
    "README.md": README
    + "# The *first* minute\n[a](#the-first-minute) [b](docs/a.md#b-1) [c](https://example.test/x)\n",
    "docs/a.md": "## B\n## B\n[up](../README.md)\n```\n[no](link.md)\n```\n",
    ".ci/run": 'step "tests" make test\n',
    "requirements.lock": "a==1 --hash=sha256:00\n",
    "a.py": 'x = "docs/work/a", "/workers", "a/root/b", "/roots"\n',
}


@pytest.mark.parametrize(("rule", "files", "told"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_rule_on_tracked_files_is_reported(
    tmp_path: Path, rule: Rule, files: Mapping[str, str], told: str
) -> None:
    breaches = rule(plant(tmp_path, files))
    assert any(told in breach for breach in breaches), breaches


@pytest.mark.parametrize("rule", rules_of(rules).values(), ids=rules_of(rules))
def test_a_sound_tree_breaks_no_rule_on_tracked_files(tmp_path: Path, rule: Rule) -> None:
    assert rule(plant(tmp_path, SOUND)) == []


def test_every_rule_on_tracked_files_has_been_seen_red() -> None:
    assert {row[1] for row in BROKEN} == set(rules_of(rules).values())


def test_an_ignored_file_is_not_judged_and_a_new_one_is(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "uv.lock\n", "uv.lock": "", "docs/pylock.toml": ""})
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert locks_of_tools(tmp_path) == ["docs/pylock.toml is tracked"]
