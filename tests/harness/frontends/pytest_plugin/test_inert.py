"""Whoever does not use the plugin must not notice it, whatever their own folders, fixtures and options are called."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]

HEAVY = {"httpx", "hypothesis", "faker", "fastapi", "pydantic", "locust", "gevent", "typer", "rich", "jinja2", "yaml"}


def test_loading_it_imports_nothing_heavy() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import partywall.harness.frontends.pytest_plugin; "
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "partywall" in done.stdout.split()
    assert not HEAVY & set(done.stdout.split())


def test_its_module_brings_in_nothing_of_ours_but_the_face(pytester: pytest.Pytester) -> None:
    program = (
        "import sys, pytest, partywall.harness; before = set(sys.modules); "
        "import partywall.harness.frontends.pytest_plugin; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["partywall.harness.frontends", "partywall.harness.frontends.pytest_plugin"]


def test_a_project_that_does_not_use_it_is_untouched(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile("def test_a(): pass")
    result = run("-v", "--junitxml=out.xml")
    result.assert_outcomes(passed=1)
    assert "partywall" not in result.stdout.str().replace("plugins: partywall", "")
    assert "partywall" not in (project.path / "out.xml").read_text("utf-8")


def test_a_target_in_the_ini_file_is_not_looked_at_before_it_is_used(project: pytest.Pytester, run: Run) -> None:
    project.makeini("[pytest]\npartywall_target = no such thing\npartywall_seed = x\n")
    project.makepyfile("def test_a(): pass")
    run("--partywall-target=neither").assert_outcomes(passed=1)


def test_options_and_fixtures_bear_its_name_only(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile("def test_a(): pass")
    help_text = run("--help").stdout.str().partition("isolation of tenants, users, sessions and tasks:")[2]
    options = {word.rstrip(",=").partition("=")[0] for word in help_text.partition("\n\n")[0].split() if word[0] == "-"}
    assert options == {"--partywall-target", "--partywall-seed"}
    listing = run("--fixtures", "-q").stdout.str().partition("fixtures defined from partywall")[2].partition("\n---")[0]
    names = {line.split()[0] for line in listing.splitlines() if line[:1].isalpha()}
    assert names == {"partywall_target", "partywall_run", "mock_llm", "canaries", "assert_isolated"}


def test_a_users_own_fixtures_of_these_names_win(project: pytest.Pytester, run: Run) -> None:
    project.makeconftest(
        """
        import pytest

        def pytest_addoption(parser):
            parser.addoption("--host", "-H")
            parser.addoption("--target")

        @pytest.fixture
        def session(): return "mine"

        @pytest.fixture
        def canaries(): return "mine"

        @pytest.fixture
        def mock_llm(): return "mine"
        """
    )
    project.makepyfile("def test_a(session, canaries, mock_llm): assert {session, canaries, mock_llm} == {'mine'}")
    run("--host=x", "--target=y").assert_outcomes(passed=1)


def test_a_repository_with_folders_of_our_names_is_unharmed(project: pytest.Pytester, run_apart: Run) -> None:
    for name in ("harness", "scenarios", "canaries", "tests"):
        project.mkpydir(name)
        (project.path / name / "mine_too.py").write_text(f"HERE = {name!r}\n", "utf-8")
    inner = project.path / "tests" / "scenarios"
    inner.mkdir()
    (inner / "__init__.py").touch()
    (inner / "test_theirs.py").write_text(
        """
import canaries.mine_too, harness.mine_too, mine, pytest, scenarios.mine_too

def test_own():
    assert [m.mine_too.HERE for m in (harness, scenarios, canaries)] == ["harness", "scenarios", "canaries"]

@pytest.fixture
def partywall_target():
    return mine.Notebook

@pytest.mark.partywall(scenarios="cross_tenant")
def test_isolation(partywall_run):
    partywall_run.assert_held()
""",
        "utf-8",
    )
    run_apart("--strict-markers").assert_outcomes(passed=2)
    run_apart("--strict-markers", "--import-mode=importlib", "-p", "no:cacheprovider").assert_outcomes(passed=2)
