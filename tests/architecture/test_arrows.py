"""Who may import whom: arrows only down, no circle, and walls crossed at the faces alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from . import arrows
from .arrows import (
    circles,
    crossings,
    drive_meets_judge,
    locust_imports,
    meetings_outside_run,
    mock_llm_walls,
    switches_to_mutants,
    units_without_a_floor,
    upward_arrows,
)
from .source import REPOSITORY, modules
from .synthetic import Rule, plant, rules_of

LATE = "def late():\n    from "
TYPING = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from "


def test_the_tree_that_is_judged_is_there() -> None:
    found = {module.root for module in modules(REPOSITORY).values()}
    assert found == {"canaries", "harness", "scenarios", "reference_impl"}


def test_no_circle_of_imports_of_any_size() -> None:
    assert circles(REPOSITORY) == []


def test_arrows_inside_the_harness_point_down_only() -> None:
    assert upward_arrows(REPOSITORY) == []


def test_every_unit_of_the_harness_has_a_floor() -> None:
    assert units_without_a_floor(REPOSITORY) == []


def test_drive_and_judge_never_reach_each_other() -> None:
    assert drive_meets_judge(REPOSITORY) == []


def test_run_is_the_one_place_where_drive_and_judge_meet() -> None:
    assert meetings_outside_run(REPOSITORY) == []


def test_the_mock_llm_knows_canaries_only_and_only_targets_and_frontends_know_it() -> None:
    assert mock_llm_walls(REPOSITORY) == []


def test_imports_are_relative_inside_a_root_and_name_a_face_across_roots() -> None:
    assert crossings(REPOSITORY) == []


def test_only_the_locust_user_imports_locust() -> None:
    assert locust_imports(REPOSITORY) == []


def test_the_reference_does_not_know_its_mutants() -> None:
    assert switches_to_mutants(REPOSITORY) == []


BROKEN: list[tuple[str, Rule, Mapping[str, str], str]] = [
    (
        "a circle of two",
        circles,
        {"canaries/a.py": "from .b import x", "canaries/b.py": "from . import a"},
        "circle: partywall.canaries.a, partywall.canaries.b",
    ),
    (
        "a circle of three through a function and a TYPE_CHECKING block",
        circles,
        {
            "canaries/a.py": "from .b import x",
            "canaries/b.py": LATE + ".c import x",
            "canaries/c.py": TYPING + ".a import x",
        },
        "circle: partywall.canaries.a, partywall.canaries.b, partywall.canaries.c",
    ),
    (
        "a circle through a face",
        circles,
        {
            "canaries/__init__.py": "from .a import scan",
            "canaries/a.py": "from . import scan",
            "canaries/scan.py": "",
        },
        "circle: partywall.canaries, partywall.canaries.a",
    ),
    (
        "a circle across two roots",
        circles,
        {"canaries/a.py": "import partywall.harness.run", "harness/run.py": "import partywall.canaries.a"},
        "circle: partywall.canaries.a, partywall.harness.run",
    ),
    (
        "an arrow up",
        upward_arrows,
        {"harness/plan/a.py": "from ..observe.b import x", "harness/observe/b.py": ""},
        "plan may not see observe",
    ),
    (
        "an arrow up in a function",
        upward_arrows,
        {"harness/errors.py": LATE + ".run import x", "harness/run.py": ""},
        "errors may not see run",
    ),
    (
        "an arrow up for typing",
        upward_arrows,
        {"harness/judge/a.py": TYPING + "..run import x", "harness/run.py": ""},
        "judge may not see run",
    ),
    (
        "an arrow up by import_module",
        upward_arrows,
        {
            "harness/plan/a.py": "import importlib\nimportlib.import_module('partywall.harness.run')",
            "harness/run.py": "",
        },
        "plan may not see run",
    ),
    (
        "an arrow to the face of the harness",
        upward_arrows,
        {"harness/__init__.py": "from .run import x", "harness/judge/a.py": "from .. import x"},
        "judge may not see the face",
    ),
    (
        "report and run are not side by side",
        upward_arrows,
        {"harness/report/a.py": "from ..run import x", "harness/run.py": ""},
        "report may not see run",
    ),
    (
        "an import from a unit without a floor",
        upward_arrows,
        {"harness/attic/a.py": "from ..errors import x"},
        "'attic' has no floor",
    ),
    (
        "a unit without a floor",
        units_without_a_floor,
        {"harness/attic/a.py": ""},
        "the unit 'attic' of the harness has no floor",
    ),
    (
        "drive imports judge",
        drive_meets_judge,
        {"harness/drive/a.py": LATE + "..judge.b import x", "harness/judge/b.py": ""},
        "drive reaches judge: partywall.harness.drive.a → partywall.harness.judge.b",
    ),
    (
        "judge reaches drive over a third module",
        drive_meets_judge,
        {
            "harness/judge/a.py": "from ..plan import b",
            "harness/plan/b.py": "from ..drive import c",
            "harness/drive/c.py": "",
        },
        "judge.a → partywall.harness.plan.b → partywall.harness.drive.c",
    ),
    (
        "report imports drive",
        drive_meets_judge,
        {"harness/report/a.py": "from ..drive.b import x", "harness/drive/b.py": ""},
        "report reaches drive",
    ),
    (
        "online is a second run",
        meetings_outside_run,
        {
            "harness/online/a.py": "from ..drive.b import x\nfrom ..judge.c import y",
            "harness/drive/b.py": "",
            "harness/judge/c.py": "",
        },
        "partywall.harness.online.a imports both drive and judge",
    ),
    (
        "the mock LLM imports the harness",
        mock_llm_walls,
        {"harness/mock_llm/a.py": "from ..errors import x"},
        "nothing of ours but canaries",
    ),
    (
        "run imports the mock LLM",
        mock_llm_walls,
        {"harness/run.py": "from .mock_llm.server import x", "harness/mock_llm/server.py": ""},
        "only drive.targets and frontends",
    ),
    (
        "an absolute import inside a root",
        crossings,
        {"canaries/a.py": "from partywall.canaries.b import x"},
        "inside a root an import is relative",
    ),
    (
        "a relative import across roots",
        crossings,
        {"harness/run.py": "from ..canaries import x"},
        "across roots an import is absolute",
    ),
    (
        "a canary module behind its face",
        crossings,
        {
            "harness/run.py": "from partywall.canaries import scope",
            "canaries/__init__.py": "",
            "canaries/scope.py": "",
        },
        "imports partywall.canaries.scope: it may import of other roots: partywall.canaries",
    ),
    (
        "canaries import the harness",
        crossings,
        {"canaries/a.py": LATE + "partywall.harness import x"},
        "of other roots: nothing",
    ),
    (
        "a scenario imports a check",
        crossings,
        {"scenarios/a.py": "from partywall.harness.judge import x"},
        "imports partywall.harness.judge",
    ),
    (
        "a scenario looks behind the face of plan",
        crossings,
        {"scenarios/a.py": "from partywall.harness.plan.probe import Probe", "harness/plan/probe.py": ""},
        "imports partywall.harness.plan.probe",
    ),
    (
        "the reference imports the harness",
        crossings,
        {"reference_impl/a.py": TYPING + "partywall.harness import x"},
        "of other roots: partywall.canaries",
    ),
    (
        "the harness imports a scenario",
        crossings,
        {"harness/run.py": "import partywall.scenarios"},
        "imports partywall.scenarios",
    ),
    (
        "locust in a check",
        locust_imports,
        {"harness/judge/a.py": LATE + "locust.env import x"},
        "only frontends.locust_user imports locust",
    ),
    (
        "locust in the locustfile",
        locust_imports,
        {"scenarios/load/locustfile.py": "import locust"},
        "only frontends.locust_user imports locust",
    ),
    (
        "the locust user in the command line",
        locust_imports,
        {
            "harness/frontends/cli.py": LATE + ".locust_user import x",
            "harness/frontends/locust_user.py": "import locust",
        },
        "only scenarios.load.locustfile imports locust_user",
    ),
    (
        "a switch to a mutant",
        switches_to_mutants,
        {"reference_impl/app.py": LATE + ".mutants.m12 import x", "reference_impl/mutants/m12.py": ""},
        "the reference may not know its mutants",
    ),
]

SOUND: dict[str, str] = {
    "canaries/__init__.py": "from .scan import scan\n",
    "canaries/scan.py": "import re\n",
    "harness/__init__.py": "from .run import verify\n",
    "harness/errors.py": "from partywall.canaries import scan\n",
    "harness/plan/__init__.py": "from .probe import Probe\n",
    "harness/plan/probe.py": "from ..errors import x\n",
    "harness/observe/history.py": "from ..plan.probe import Probe\n",
    "harness/mock_llm/server.py": "from . import turn\nfrom partywall.canaries import scan\n",
    "harness/mock_llm/turn.py": "",
    "harness/drive/targets/http.py": "from ...mock_llm.server import x\n",
    "harness/drive/targets/reference.py": "from partywall.reference_impl import app\n",
    "harness/judge/checks/leak.py": "from ...observe.history import History\n",
    "harness/report/reporter.py": "from ..judge.checks import leak\n",
    "harness/run.py": "from . import report\nfrom .drive.targets import http\nfrom .judge.checks import leak",
    "harness/report/__init__.py": "from .reporter import tell\n",
    "harness/frontends/locust_user.py": "import locust\n",
    "reference_impl/__init__.py": "from .app import app\n",
    "reference_impl/app.py": "from partywall.canaries import scan\n",
    "reference_impl/mutants/m01.py": "from ..app import app\n",
    "scenarios/leak.py": "from partywall.harness.plan import Probe\n",
    "scenarios/load/locustfile.py": "from partywall.harness.frontends.locust_user import x\n",
}


@pytest.mark.parametrize(("rule", "files", "told"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_rule_on_imports_is_reported(tmp_path: Path, rule: Rule, files: Mapping[str, str], told: str) -> None:
    breaches = rule(plant(tmp_path, files))
    assert any(told in breach for breach in breaches), breaches


@pytest.mark.parametrize("rule", rules_of(arrows).values(), ids=rules_of(arrows))
def test_a_sound_tree_breaks_no_rule_on_imports(tmp_path: Path, rule: Rule) -> None:
    assert rule(plant(tmp_path, SOUND)) == []


def test_every_rule_on_imports_has_been_seen_red() -> None:
    assert {row[1] for row in BROKEN} == set(rules_of(arrows).values())
