"""What a test may give as its target: a spec, an adapter, what makes one, several of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]

GATE = """
import pytest

@pytest.mark.partywall(scenarios="cross_tenant")
def test_isolation(partywall_run):
    partywall_run.assert_held()
"""


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("mine.WithoutTenant", "WithoutTenant"),
        ("mine.WithoutTenant()", "WithoutTenant"),
        ("lambda: mine.WithoutTenant()", "partywall_target.<locals>.<lambda>"),
    ],
    ids=["class", "object", "factory"],
)
def test_a_fixture_of_the_users_gives_the_target(project: pytest.Pytester, run: Run, given: str, name: str) -> None:
    project.makeconftest(f"import mine, pytest\n@pytest.fixture\ndef partywall_target(): return {given}\n")
    project.makepyfile(test_gate=GATE)
    result = run()
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert f"VIOLATED cross_tenant on {name}" in text
    assert "pytest 'test_gate.py::test_isolation[cross_tenant]' --partywall-seed=1" in text
    assert "partywall replay" not in text, "nobody could find the target again by its name"


def test_an_object_that_many_tests_share_shows_none_what_another_left_and_stays_open(
    project: pytest.Pytester, run: Run
) -> None:
    project.makeconftest(
        """
        import mine, pytest

        class Store(mine.Notebook):
            closed = 0
            def aclose(self):
                self.closed += 1

        @pytest.fixture(scope="session")
        def partywall_target():
            store = Store()
            yield store
            assert store.turns and not store.closed
        """
    )
    project.makepyfile(test_gate=GATE.replace('"cross_tenant"', '["cross_tenant", "cross_user", "cross_session"]'))
    run().assert_outcomes(passed=3)


def test_a_target_may_be_parametrised(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        test_gate="""
        import mine, pytest

        @pytest.mark.parametrize("partywall_target", [mine.Notebook, mine.WithoutTenant, "mine:Notebook"])
        @pytest.mark.partywall(scenarios="cross_tenant")
        def test_isolation(partywall_run):
            partywall_run.assert_held()
        """
    )
    run().assert_outcomes(passed=2, failed=1)


def test_an_async_adapter_runs_though_the_test_has_a_loop_of_its_own(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        test_gate="""
        import asyncio, mine, pytest

        class Async(mine.Notebook):
            async def list_turns(self, call, limit=None):
                await asyncio.sleep(0)
                return super().list_turns(call, limit)

        @pytest.fixture(autouse=True)
        def running_loop():
            loop = asyncio.new_event_loop()
            asyncio._set_running_loop(loop)
            yield
            asyncio._set_running_loop(None)
            loop.close()

        @pytest.fixture
        def partywall_target():
            return Async

        @pytest.mark.partywall(scenarios="cross_tenant")
        def test_isolation(partywall_run):
            partywall_run.assert_held()
        """
    )
    run().assert_outcomes(passed=1)


def test_a_target_that_does_not_open_fails_in_a_sentence(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        test_gate=GATE + "\n@pytest.fixture\ndef partywall_target():\n    def broken(): raise OSError('no disk')\n"
        "    return broken\n"
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*failed *did not open: OSError: no disk"])
