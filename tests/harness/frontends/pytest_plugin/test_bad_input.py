"""Bad input ends in one clear sentence, never in a traceback."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]

GATE = """
import pytest

@pytest.mark.partywall({arguments})
def test_isolation(partywall_run):
    partywall_run.assert_held()

def test_other():
    pass
"""
ONE = "scenarios='cross_tenant'"


def told(result: pytest.RunResult) -> str:
    text = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text
    assert "pytest_plugin.py" not in text
    return text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("scenarios='cross_tennant'", "no scenario 'cross_tennant'; known: "),
        ("scenarios=['cross_tenant', 7]", "no scenario '7'; known: "),
        ("pack='huge'", "no pack 'huge'; known: full, quick, standard"),
        ("'cross_tenant'", "marker partywall got 'cross_tenant'; expected scenarios=…"),
        ("scenario='cross_tenant'", "marker partywall got scenario; expected scenarios=…"),
    ],
)
def test_a_marker_that_is_not_understood(project: pytest.Pytester, run: Run, arguments: str, sentence: str) -> None:
    project.makepyfile(test_gate=GATE.format(arguments=arguments))
    result = run("--partywall-target=mine:Notebook")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert sentence in told(result)


def test_a_marker_with_scenarios_on_a_test_that_runs_none(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile("import pytest\n@pytest.mark.partywall(scenarios='takeover')\ndef test_a(): pass\n")
    assert "is marked for scenarios and does not use the fixture partywall_run" in told(run())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "ERROR: no target for partywall: give --partywall-target, set partywall_target in the ini file, or"),
        (["--partywall-target=refrence"], "ERROR: no target 'refrence'; known: "),
    ],
)
def test_no_target_and_an_unknown_one_are_refused_before_anything_runs(
    project: pytest.Pytester, run: Run, options: list[str], sentence: str
) -> None:
    project.makepyfile(test_gate=GATE.format(arguments=ONE))
    result = run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert sentence in told(result)
    result.assert_outcomes()


def test_a_target_is_asked_for_only_where_a_test_that_needs_it_was_chosen(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(test_gate=GATE.format(arguments=ONE))
    run("-k", "other").assert_outcomes(passed=1, deselected=1)
    assert run("--collect-only").ret == pytest.ExitCode.OK


def test_workers_of_xdist_tell_the_same_sentence(project: pytest.Pytester, run_apart: Run) -> None:
    project.makepyfile(test_gate=GATE.format(arguments=ONE))
    result = run_apart("-n", "2")
    result.assert_outcomes(errors=1, passed=1)
    assert "no target for partywall: give --partywall-target" in told(result)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("nowhere:Adapter", "cannot import 'nowhere': ModuleNotFoundError"),
        ("mine:Notbook", "'mine' has no 'Notbook'; known: "),
        ("mine:Key", "needs one write and one observation of contract v1"),
    ],
)
def test_a_target_that_cannot_be_opened(project: pytest.Pytester, run: Run, target: str, sentence: str) -> None:
    project.makepyfile(test_gate=GATE.format(arguments=ONE))
    result = run(f"--partywall-target={target}")
    result.assert_outcomes(errors=1, passed=1)
    assert sentence in told(result)


def test_a_seed_that_is_no_number(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(test_gate=GATE.format(arguments=ONE))
    assert "argument --partywall-seed: invalid int value: 'x'" in told(run("--partywall-seed=x"))
    project.makeini("[pytest]\npartywall_target = mine:Notebook\npartywall_seed = x\n")
    assert "ERROR: partywall_seed must be a whole number, got 'x'" in told(run())


def test_a_fixture_that_gives_nothing(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(test_gate=GATE.format(arguments=ONE) + "\n@pytest.fixture\ndef partywall_target():\n    pass\n")
    assert "partywall_target gave None; expected a target's name, an adapter or what makes one" in told(run())
