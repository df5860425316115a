"""Every golden history is judged as its name says, and every check has one for each answer that it can give."""

from __future__ import annotations

from pathlib import Path

import pytest
from partywall.harness.judge.bench import checks, judge
from partywall.harness.judge.verdict import Status, Verdict
from partywall.harness.observe.journal import read

from .make import HISTORIES, make

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.jsonl"))


def verdicts(file: Path, check: str) -> list[Verdict]:
    """What `check` says of each history in `file`."""
    return [verdict for history in read(file) for verdict in judge(history).verdicts if verdict.check == check]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_golden_history_is_judged_as_its_name_says(file: Path) -> None:
    check, status, what = file.stem.split(".")
    found = verdicts(file, check)
    assert found
    for verdict in found:
        assert verdict.status.value == status, verdict.reason
        if verdict.status is Status.VIOLATED:
            assert {finding.code for finding in verdict.findings} == {what.partition("-")[0]}
        if verdict.status in (Status.INCONCLUSIVE, Status.NOT_COVERED):
            assert verdict.reason or verdict.needs


@pytest.mark.parametrize("check", checks())
def test_a_check_has_a_golden_history_for_every_status_it_can_give(check: str) -> None:
    possible = {"held", "inconclusive", "not_covered"} | ({"violated"} if checks()[check].codes else set())
    assert {file.stem.split(".")[1] for file in FILES if file.stem.split(".")[0] == check} == possible


@pytest.mark.parametrize("check", checks())
def test_a_check_has_a_golden_history_for_every_code_it_can_give(check: str) -> None:
    shown = {
        file.stem.split(".")[2].partition("-")[0] for file in FILES if file.stem.split(".")[:2] == [check, "violated"]
    }
    assert shown == set(checks()[check].codes)


def test_every_golden_history_names_a_known_check() -> None:
    assert {file.stem.split(".")[0] for file in FILES} <= set(checks())


def test_the_golden_histories_are_what_their_maker_makes(tmp_path: Path) -> None:
    make(tmp_path)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {
        file.name: file.read_text() for file in FILES if file.stem in HISTORIES
    }


@pytest.mark.parametrize("file", [file for file in FILES if ".violated." in file.name], ids=lambda file: file.stem)
def test_a_finding_shows_no_whole_canary(file: Path) -> None:
    (history,) = read(file)
    tokens = {sown.canary.text for sown in history.sown}
    told = repr(judge(history).verdicts)
    assert not [token for token in tokens if token in told]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_cell_is_held_beside_a_limit(file: Path) -> None:
    for history in read(file):
        if history.limits:
            cells = [cell for verdict in judge(history).verdicts for cell in verdict.cells]
            assert not [cell for cell in cells if cell.status is Status.HELD]


def test_a_leak_that_wears_base64_is_told_by_its_dress() -> None:
    (verdict,) = verdicts(FOLDER / "leak.violated.PW101-base64.jsonl", "leak")
    assert {finding.carrier for finding in verdict.findings} == {"base64"}


def test_no_wall_is_claimed_between_tenants_that_share_on_purpose() -> None:
    (verdict,) = verdicts(FOLDER / "leak.held.sharing_beside_a_wall.jsonl", "leak")
    assert {cell.boundary for cell in verdict.cells if cell.status is Status.HELD} == {"user"}
