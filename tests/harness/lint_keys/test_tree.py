"""Files and folders: what is read, what is left out, what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from partywall.canaries import UsageError
from partywall.harness.lint_keys import Report, Settings, check_paths, settings_for

KEY = 'cache[f"a:{question}"] = 1\n'


def plant(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(KEY)


def seen(report: Report, root: Path) -> list[str]:
    return [Path(each.path).relative_to(root).as_posix() for each in report.findings]


def test_every_python_file_below_a_folder_is_read_in_order(tmp_path: Path) -> None:
    plant(tmp_path, "b.py", "a/c.py", "a/b.pyi", "a/notes.txt")
    report = check_paths([tmp_path])
    assert seen(report, tmp_path) == ["a/b.pyi", "a/c.py", "b.py"]
    assert report.files == 3


def test_hidden_folders_environments_and_foreign_packages_are_left_out(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", ".git/a.py", "node_modules/a.py", "lib/site-packages/a.py", "venv/a.py", "own/a.py")
    (tmp_path / "own" / "pyvenv.cfg").touch()
    assert seen(check_paths([tmp_path]), tmp_path) == ["a.py"]


def test_a_folder_that_is_named_is_read_wherever_it_stands(tmp_path: Path) -> None:
    plant(tmp_path, "site-packages/lib/a.py")
    assert len(check_paths([tmp_path / "site-packages" / "lib"]).findings) == 1


@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("*_gen.py", ["a/b.py", "b.py"]),
        ("a", ["b.py", "b_gen.py"]),
        ("a/", ["b.py", "b_gen.py"]),
        ("a/*", ["b.py", "b_gen.py"]),
        ("b.py", ["a/c_gen.py", "b_gen.py"]),
    ],
)
def test_a_glob_leaves_out_by_path_or_by_name(tmp_path: Path, glob: str, left: list[str]) -> None:
    plant(tmp_path, "a/b.py", "a/c_gen.py", "b.py", "b_gen.py")
    assert seen(check_paths([tmp_path], exclude=[glob]), tmp_path) == left


def test_a_file_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    plant(tmp_path, "a.py")
    os.symlink(tmp_path / "a.py", tmp_path / "b.py")
    report = check_paths([tmp_path, tmp_path / "a.py"])
    assert (report.files, len(report.findings)) == (1, 1)


def test_links_that_run_in_circles_are_no_obstacle(tmp_path: Path) -> None:
    plant(tmp_path, "a/a.py")
    os.symlink(tmp_path, tmp_path / "a" / "up")
    os.symlink(tmp_path / "x.py", tmp_path / "x.py")
    assert seen(check_paths([tmp_path]), tmp_path) == ["a/a.py"]


def test_what_cannot_be_parsed_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    plant(tmp_path, "a.py")
    (tmp_path / "b.py").write_text("x = (\n")
    (tmp_path / "c.py").write_bytes(b"x = '\xff'\n")
    report = check_paths([tmp_path])
    assert seen(report, tmp_path) == ["a.py"]
    assert [Path(each.path).name for each in report.unread] == ["b.py", "c.py"]


def test_a_file_that_nobody_wrote_by_hand_is_told_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"#" * (4 * 1024 * 1024 + 1))
    (unread,) = check_paths([tmp_path]).unread
    assert "longer than 4194304 bytes" in unread.why


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    plant(tmp_path, "a.py")
    os.mkfifo(tmp_path / "b.py")
    assert check_paths([tmp_path]).files == 1


@pytest.mark.parametrize("name", ["missing", "missing.py", "broken.py"])
def test_a_path_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    os.symlink(tmp_path / "nowhere", tmp_path / "broken.py")
    with pytest.raises(UsageError, match="no file or folder"):
        check_paths([tmp_path / name])


def test_a_path_without_a_python_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(UsageError, match="no Python file in"):
            check_paths([path])
    plant(tmp_path, "a.py")
    with pytest.raises(UsageError, match="no Python file that is not excluded in"):
        check_paths([tmp_path], exclude=["*.py"])


def test_settings_come_from_the_nearest_pyproject(tmp_path: Path) -> None:
    plant(tmp_path, "a/b/c.py")
    (tmp_path / "pyproject.toml").write_text('[tool.partywall.lint-keys]\nmakers = ["k"]\nexclude = ["x"]\n')
    assert settings_for(tmp_path / "a" / "b" / "c.py") == Settings(("k",), ("x",))
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\n")
    assert settings_for(tmp_path / "a" / "b") == Settings()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[tool.partywall.lint-keys]\nmakers = 'k'", "makers in tool.partywall.lint-keys is no list of texts"),
        ("[tool.partywall.lint-keys]\nmakers = [1]", "makers in tool.partywall.lint-keys is no list of texts"),
        ("[tool.partywall.lint-keys]\nmaker = ['k']", "did you mean 'makers'"),
        ("[tool.partywall]\nlint-keys = 1", "tool.partywall.lint-keys is no table"),
        ("[tool", "pyproject.toml: "),
    ],
)
def test_settings_that_cannot_be_read_are_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError, match=r"pyproject\.toml") as caught:
        settings_for(tmp_path)
    assert told in str(caught.value)
