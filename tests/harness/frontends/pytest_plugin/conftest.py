"""A user's project for pytester: an adapter module beside the tests, and pytest as the user runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from partywall.harness.drive.resolve import kinds
from partywall.harness.frontends import isolation_machine, pytest_canaries, pytest_model, pytest_run
from partywall.harness.judge.bench import checks
from partywall.harness.run import scenarios

NOTEBOOK = Path(__file__).parents[3] / "acceptance" / "notebook.py"

Run = Callable[..., pytest.RunResult]

# pytester forgets every module that a run imported: what a registry keeps beyond that must be there before
LOADED = (kinds(), checks(), scenarios(), isolation_machine, pytest_canaries, pytest_model, pytest_run)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with `mine.py`: the right adapter of the acceptance tests, and the wrong ones."""
    pytester.makepyfile(mine=NOTEBOOK.read_text("utf-8"))
    pytester.syspathinsert()
    return pytester


@pytest.fixture
def run(project: pytest.Pytester) -> Run:
    """Pytest in that folder, in this process; without Locust's plugin, which patches the process it is loaded into."""

    def call(*arguments: str) -> pytest.RunResult:
        return project.runpytest_inprocess("-p", "no:locust", "-p", "no:cacheprovider", *arguments)

    return call


@pytest.fixture
def run_apart(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same in a process of its own, with no plugin of the environment's but ours and xdist."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def call(*arguments: str) -> pytest.RunResult:
        return project.runpytest_subprocess("-p", "partywall", "-p", "xdist", *arguments)

    return call
