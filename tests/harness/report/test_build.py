"""Build: judgements merged into results, so that nothing looks better together than it did alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from partywall.harness.judge.assurance import clopper_pearson_upper
from partywall.harness.judge.verdict import Status
from partywall.harness.report.build import merged
from partywall.harness.report.results import CellRecord

from .judgements import (
    FAILED,
    TRIAL,
    cell,
    finding,
    held,
    inconclusive,
    judgement,
    not_covered,
    results,
    violated,
)

OTHER = replace(TRIAL, seed=2)


@pytest.mark.parametrize("turned", [False, True])
def test_worst_verdict_wins_in_whatever_order_trials_ran(turned: bool) -> None:
    told = [judgement(held()), judgement(inconclusive("blind")), judgement(violated())]
    assert merged(results(*(reversed(told) if turned else told)))["leak"][0] is Status.VIOLATED


@pytest.mark.parametrize("turned", [False, True])
def test_not_covered_never_lowers_what_another_trial_covered(turned: bool) -> None:
    for covered in (held(), inconclusive(), violated()):
        told = [judgement(covered), judgement(not_covered())]
        assert merged(results(*(reversed(told) if turned else told)))["leak"][0] is covered.status


def test_reason_told_is_the_one_that_was_given_for_the_worst_verdict() -> None:
    found = merged(results(judgement(not_covered("absent")), judgement(inconclusive("blind")), judgement(held())))
    assert found["leak"] == (Status.INCONCLUSIVE, "blind")


def test_check_that_some_trial_covered_is_not_listed_as_not_covered() -> None:
    found = results(judgement(not_covered()), judgement(held()))
    assert found.not_covered == []


def test_check_that_no_trial_covered_is_listed_once_with_its_needs() -> None:
    found = results(judgement(not_covered()), judgement(not_covered()))
    assert [(record.check, record.needs) for record in found.not_covered] == [("leak", ["add_memory"])]


def test_scenario_that_was_not_run_is_listed_with_its_reason() -> None:
    found = results(judgement(held()), skipped=[("takeover", "the target lacks list_memories")])
    assert [(record.check, record.reason) for record in found.not_covered] == [
        ("scenario takeover", "the target lacks list_memories")
    ]


def test_matrix_cell_is_the_worst_over_trials() -> None:
    found = results(
        judgement(held("leak", cell())), judgement(inconclusive("blind", "leak", cell(Status.INCONCLUSIVE)))
    )
    assert found.matrix == [_cell("inconclusive", control=False)]


def test_matrix_cell_that_one_trial_did_not_try_keeps_what_another_found() -> None:
    untried = inconclusive("blind", "leak", cell(Status.NOT_COVERED))
    assert results(judgement(untried), judgement(held("leak", cell()))).matrix == [_cell("held", control=True)]


def test_clean_cell_gives_way_to_one_that_was_crossed_in_another_dress() -> None:
    leaked = violated(cells=[cell(Status.VIOLATED, carrier="base64")])
    found = results(judgement(held("leak", cell())), judgement(leaked))
    assert found.matrix == [_cell("violated", control=True, carrier="base64")]


def test_clean_cell_of_another_boundary_or_channel_stays() -> None:
    leaked = violated(cells=[cell(Status.VIOLATED), cell(channel="list"), cell(boundary="user")])
    found = results(judgement(leaked)).matrix
    assert [(record.boundary, record.channel, record.status) for record in found] == [
        ("tenant", "search", "violated"),
        ("tenant", "list", "held"),
        ("user", "search", "held"),
    ]


def test_control_of_a_cell_failed_where_it_failed_in_one_trial_of_that_status() -> None:
    found = results(
        judgement(violated(cells=[cell(Status.VIOLATED)])),
        judgement(violated(cells=[cell(Status.VIOLATED, control=False)])),
    )
    assert found.matrix == [_cell("violated", control=False)]


def test_counts_are_sums_over_trials() -> None:
    counts = results(judgement(held()), judgement(held(), trial=OTHER)).counts
    assert (counts.probes, counts.observations_checked, counts.observations_total) == (24, 80, 82)


def test_assurance_counts_worlds_and_channels_that_were_tried() -> None:
    told = [judgement(held("leak", cell(), cell(channel="list"))), judgement(held("leak", cell()))]
    (record,) = results(*told).assurance
    assert (record.n, record.k, record.upper) == (3, 0, clopper_pearson_upper(0, 3, 0.95))


def test_assurance_counts_a_leak_in_three_dresses_once() -> None:
    dresses = [cell(Status.VIOLATED, carrier=carrier) for carrier in ("plain", "base64", "hex")]
    (record,) = results(judgement(violated(cells=dresses)), judgement(held("leak", cell()))).assurance
    assert (record.n, record.k) == (2, 1)


def test_assurance_counts_a_cell_that_two_checks_looked_at_once() -> None:
    (record,) = results(judgement(held("leak", cell()), held("mixing", cell()))).assurance
    assert record.n == 1


@pytest.mark.parametrize("turned", [False, True])
def test_leak_that_one_check_saw_is_not_undone_by_another_that_looked_at_the_same_cell(turned: bool) -> None:
    told = [violated(cells=[cell(Status.VIOLATED)]), held("mixing", cell())]
    (record,) = results(judgement(*(reversed(told) if turned else told))).assurance
    assert (record.n, record.k) == (1, 1)


def test_assurance_claims_nothing_of_what_could_not_be_seen() -> None:
    blind = inconclusive("blind", "leak", cell(Status.INCONCLUSIVE), cell(Status.NOT_COVERED, "user"))
    assert results(judgement(blind)).assurance == []


def test_sensitivity_is_the_share_of_controls_that_passed_where_that_boundary_was_tried() -> None:
    leaked = replace(violated(cells=[cell(Status.VIOLATED)]), controls=(FAILED,))
    found = results(judgement(leaked), judgement(held("leak", cell(boundary="user"))))
    assert [record.sensitivity for record in found.assurance] == [0.0, 1.0]


def test_every_finding_names_the_trial_that_replays_it() -> None:
    found = results(judgement(violated()), judgement(violated(finding("other")), trial=OTHER))
    assert [record.trial for verdict in found.verdicts for record in verdict.findings] == [str(TRIAL), str(OTHER)]


def _cell(status: str, *, control: bool, carrier: str = "plain") -> CellRecord:
    record = {"boundary": "tenant", "channel": "search", "carrier": carrier, "status": status, "control": control}
    return CellRecord.model_validate(record)
