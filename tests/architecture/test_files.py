"""What a file may look like: its length, its name, its docstring, its face, its handlers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from . import files
from .files import (
    long_conftests,
    long_files,
    missing_docstrings,
    namespace_files,
    swallowed_errors,
    unfaithful_faces,
    unfinished_marks,
    vague_names,
)
from .source import REPOSITORY, python_files
from .synthetic import Rule, plant, rules_of


def test_the_files_that_are_judged_are_there() -> None:
    assert Path(__file__).resolve() in python_files(REPOSITORY)


def test_no_file_is_longer_than_400_lines() -> None:
    assert long_files(REPOSITORY) == []


def test_no_conftest_is_longer_than_60_lines() -> None:
    assert long_conftests(REPOSITORY) == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert vague_names(REPOSITORY) == []


def test_the_namespace_has_no_init_file() -> None:
    assert namespace_files(REPOSITORY) == []


def test_every_module_begins_with_a_docstring_of_one_line() -> None:
    assert missing_docstrings(REPOSITORY) == []


def test_no_file_is_marked_as_unfinished() -> None:
    assert unfinished_marks(REPOSITORY) == []


def test_no_handler_swallows_every_exception() -> None:
    assert swallowed_errors(REPOSITORY) == []


def test_every_face_shows_exactly_what_it_binds_in_order_and_holds_no_logic() -> None:
    assert unfaithful_faces(REPOSITORY) == []


BROKEN: list[tuple[str, Rule, Mapping[str, str], str]] = [
    ("401 lines", long_files, {"harness/run.py": "x = 1\n" * 401}, "run.py has 401 lines"),
    ("401 lines of tests", long_files, {"tests/test_a.py": "x = 1\n" * 401}, "tests/test_a.py has 401 lines"),
    ("401 lines of a benchmark", long_files, {"bench/a.py": "x = 1\n" * 401}, "bench/a.py has 401 lines"),
    (
        "61 lines of conftest",
        long_conftests,
        {"tests/judge/conftest.py": "x = 1\n" * 61},
        "conftest.py has 61 lines",
    ),
    ("a vague module", vague_names, {"harness/judge/helpers.py": ""}, "'helpers' says nothing"),
    ("a vague package", vague_names, {"canaries/common/scope.py": ""}, "'common' says nothing"),
    (
        "an init in the namespace",
        namespace_files,
        {"harness/../__init__.py": ""},
        "harness/partywall/__init__.py",
    ),
    ("no docstring", missing_docstrings, {"harness/run.py": "x = 1"}, "run.py does not begin with"),
    (
        "a docstring that starts late",
        missing_docstrings,
        {"harness/run.py": '"""\nLate."""'},
        "run.py does not begin with",
    ),
    (
        "a docstring that runs on",
        missing_docstrings,
        {"tests/test_a.py": '"""One\ntwo."""'},
        "first line runs on",
    ),
    *[
        (f"the mark {mark}", unfinished_marks, {"harness/run.py": f"# {mark}: later"}, "run.py:1 is marked")
        for mark in ("TO" + "DO", "FIX" + "ME", "X" * 3)
    ],
    *[
        (told, swallowed_errors, {"harness/run.py": f"try:\n    x\n{handler}"}, "run.py:3 swallows")
        for told, handler in {
            "a broad pass": "except Exception: pass",
            "a bare pass": "except:\n    pass",
            "a broad ellipsis in a tuple": "except (ValueError, BaseException) as e:\n    ...",
        }.items()
    ],
    (
        "a broad suppress",
        swallowed_errors,
        {"harness/run.py": "with contextlib.suppress(Exception): x()"},
        "run.py:1 swallows",
    ),
    *[
        (told, unfaithful_faces, {"canaries/__init__.py": f'"""Face."""\n{text}'}, breach)
        for told, text, breach in [
            (
                "a face that is not sorted",
                "from .a import B, a\n__all__ = ['a', 'B']",
                "not sorted: expected ['B', 'a']",
            ),
            (
                "a face with a name twice",
                "from .a import a\n__all__ = ['a', 'a']",
                "not sorted: expected ['a']",
            ),
            (
                "a face that promises too much",
                "from .a import a\n__all__ = ['a', 'b']",
                "what it does not bind: b",
            ),
            (
                "a face that hides a name",
                "from .a import a, b\n__all__ = ['a']",
                "binds what `__all__` does not name: b",
            ),
            ("a face without a list", "from .a import a", "has no `__all__`"),
            ("a face with a computed list", "from .a import a\n__all__ = sorted(['a'])", "no literal list"),
            ("a face with a function", "def f(): ...", "holds logic at line 2"),
            ("a face with a constant", "LIMIT = 3\n__all__ = ['LIMIT']", "holds logic at line 2"),
            ("a face with a condition", "if True:\n    from .a import a", "holds logic at line 2"),
        ]
    ],
]

SOUND: dict[str, str] = {
    "canaries/__init__.py": '"""Face."""\nfrom __future__ import annotations\n'
    'from .a import ALL, Scope, s2, s10\n__all__ = ["ALL", "Scope", "s2", "s10"]\n',
    "canaries/a.py": '"""One line."""\ntry:\n    x = 1\nexcept ValueError:\n    pass\n',
    "harness/__init__.py": '"""An empty face.\n\nMore of it."""\n__all__: list[str] = []\n',
    "harness/run.py": '"""Method XXXL."""\ntry:\n    x = 1\nexcept Exception as error:\n    print(error)\n',
    "tests/conftest.py": '"""Short."""\n' + "x = 1\n" * 59,
    "bench/a.py": '"""Long."""\n' + "x = 1\n" * 399,
}


@pytest.mark.parametrize(("rule", "planted", "told"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_rule_on_files_is_reported(tmp_path: Path, rule: Rule, planted: Mapping[str, str], told: str) -> None:
    breaches = rule(plant(tmp_path, planted))
    assert any(told in breach for breach in breaches), breaches


@pytest.mark.parametrize("rule", rules_of(files).values(), ids=rules_of(files))
def test_a_sound_tree_breaks_no_rule_on_files(tmp_path: Path, rule: Rule) -> None:
    assert rule(plant(tmp_path, SOUND)) == []


def test_every_rule_on_files_has_been_seen_red() -> None:
    assert {row[1] for row in BROKEN} == set(rules_of(files).values())
