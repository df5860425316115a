"""The gate: one item a scenario; held passes, violated and inconclusive fail in words, not covered is skipped."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]

GATE = """
import pytest

@pytest.mark.partywall({arguments})
def test_isolation(partywall_run):
    partywall_run.assert_held()
"""
WHOLE_CANARY = re.compile("mzqx7[0-9a-z]{24}")


def gate(project: pytest.Pytester, arguments: str = "scenarios='cross_tenant'") -> None:
    project.makepyfile(test_gate=GATE.format(arguments=arguments))


def test_a_right_adapter_passes_and_the_summary_counts(project: pytest.Pytester, run: Run) -> None:
    gate(project, "scenarios=['cross_tenant', 'cross_user']")
    result = run("--partywall-target=mine:Notebook", "--partywall-seed=7", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*2 held*on mine:Notebook, seed 7"])


def test_a_leak_fails_with_testimony_code_replay_and_explain(project: pytest.Pytester, run: Run) -> None:
    gate(project)
    result = run("--partywall-target=mine:WithoutTenant")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*VIOLATED cross_tenant on mine:WithoutTenant: * findings under PW101*",
            "E*PW101 crossed tenant: * was shown *'s canary ?????? in *: crossed TENANT",
            "E*replay*partywall replay 'scenario=cross_tenant target=mine:WithoutTenant fault=steady seed=1 size=1'",
            "E*replay*pytest 'test_gate.py::test_isolation[[]cross_tenant]' --partywall-target=mine:WithoutTenant "
            "--partywall-seed=1",
            "E*explain*partywall explain PW101",
            "E*evidence*",
        ]
    )
    assert "pytest_run.py" not in result.stdout.str()


def test_no_canary_is_ever_printed_whole(project: pytest.Pytester, run: Run) -> None:
    gate(project)
    result = run("--partywall-target=mine:WithoutTenant", "--showlocals", "--tb=long", "-vv", "--junitxml=out.xml")
    result.assert_outcomes(failed=1)
    assert not WHOLE_CANARY.search(result.stdout.str() + result.stderr.str())
    assert not WHOLE_CANARY.search((project.path / "out.xml").read_text("utf-8"))


def test_a_blind_target_fails_and_the_failed_control_is_named(project: pytest.Pytester, run: Run) -> None:
    gate(project)
    result = run("--partywall-target=mine:DropsEveryWrite")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*INCONCLUSIVE cross_tenant on mine:DropsEveryWrite",
            "E*undecided*leak: control failed",
            "E *sees its own* by *",
        ]
    )


def test_what_the_target_lacks_is_skipped_with_its_reason(project: pytest.Pytester, run: Run) -> None:
    gate(project, "scenarios='claimed_identity'")
    result = run("--partywall-target=mine:Notebook", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["1 not covered*", "SKIPPED*not covered: the target does not prove who calls"])


def test_junit_holds_the_evidence_of_every_item(project: pytest.Pytester, run: Run) -> None:
    gate(project, "scenarios=['cross_tenant', 'claimed_identity', 'cross_user']")
    run("--partywall-target=mine:WithoutTenant", "--junitxml=out.xml")
    cases = {
        case.attrib["name"]: {item.attrib["name"]: item.attrib["value"] for item in case.iter("property")}
        for case in ElementTree.parse(project.path / "out.xml").iter("testcase")
    }
    assert {name: properties["partywall_status"] for name, properties in cases.items()} == {
        "test_isolation[cross_tenant]": "violated",
        "test_isolation[claimed_identity]": "not_covered",
        "test_isolation[cross_user]": "held",
    }
    red = cases["test_isolation[cross_tenant]"]
    assert red["partywall_codes"].startswith("PW101")
    assert red["partywall_trial"] == "scenario=cross_tenant target=mine:WithoutTenant fault=steady seed=1 size=1"
    assert "crossed TENANT" in red["partywall_finding"]


def test_a_bare_marker_and_none_at_all_run_the_quick_pack_with_stable_ids(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        test_gate=GATE.format(arguments="") + "\ndef test_unmarked(partywall_run): partywall_run.assert_held()\n"
    )
    collected = run("--collect-only", "-q").outlines
    marked = [line.partition("[")[2] for line in collected if "test_isolation[" in line]
    assert {"cross_tenant]", "cross_user]", "cross_session]", "cross_task]", "takeover]"} <= set(marked)
    assert "awkward_ids]" not in marked
    assert marked == [line.partition("[")[2] for line in collected if "test_unmarked[" in line]
    assert marked == [line.partition("[")[2] for line in run("--collect-only", "-q").outlines if "isolation[" in line]


def test_a_pack_names_more_scenarios(project: pytest.Pytester, run: Run) -> None:
    gate(project, "pack='standard'")
    assert any("awkward_ids" in line for line in run("--collect-only", "-q").outlines)


def test_a_run_that_nobody_looks_at_does_not_pass(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        test_gate="""
        import pytest

        @pytest.mark.partywall(scenarios="cross_tenant")
        def test_forgets(partywall_run):
            pass

        @pytest.mark.partywall(scenarios="cross_tenant")
        def test_expects_the_leak(partywall_run):
            codes = {found.code for verdict in partywall_run.results.verdicts for found in verdict.findings}
            assert "PW101" in codes
        """
    )
    result = run("--partywall-target=mine:WithoutTenant")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["the test never looked at what it ran: call partywall_run.assert_held()"])


def test_the_ini_file_names_target_and_seed_and_the_command_line_stands_before_it(
    project: pytest.Pytester, run: Run
) -> None:
    gate(project)
    project.makeini("[pytest]\npartywall_target = mine:Notebook\npartywall_seed = 5\n")
    run().stdout.fnmatch_lines(["1 held*on mine:Notebook, seed 5"])
    run("--partywall-target=mine:ByIdWithoutOwner", "--partywall-seed=6").stdout.fnmatch_lines(
        ["1 violated*on mine:ByIdWithoutOwner, seed 6"]
    )


def test_it_works_on_two_workers_of_xdist_and_junit_is_whole(project: pytest.Pytester, run_apart: Run) -> None:
    gate(project, "scenarios=['cross_tenant', 'cross_user', 'cross_session']")
    result = run_apart("-n", "2", "--partywall-target=mine:WithoutTenant", "--junitxml=out.xml")
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(["*2 held · 1 violated*on mine:WithoutTenant, seed 1"])
    statuses = re.findall('partywall_status" value="([a-z_]+)"', (project.path / "out.xml").read_text("utf-8"))
    assert sorted(statuses) == ["held", "held", "violated"]
