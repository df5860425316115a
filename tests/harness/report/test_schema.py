"""The published schema of results.json: what is written keeps to it, and the file in the package is the schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from partywall.harness.judge.verdict import Status
from partywall.harness.report.reporters.json import render
from partywall.harness.report.results import schema

from .judgements import cell, held, history, inconclusive, judgement, not_covered, results, violated
from .test_every_reporter import HOSTILE, rendered


def test_schema_in_the_package_is_the_schema_of_the_code() -> None:
    assert published() == schema()


def test_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(published())


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_results_of_hostile_text_keep_to_the_schema(name: str) -> None:
    jsonschema.validate(json.loads(rendered("json", name)), published())


def test_results_of_every_status_keep_to_the_schema() -> None:
    fields = [cell(Status.VIOLATED), cell(Status.NOT_COVERED, "user"), cell(boundary="task")]
    told = judgement(violated(cells=fields), held("mixing"), inconclusive(check="order"), not_covered(check="purge"))
    jsonschema.validate(json.loads(render(results(told, skipped=[("purge", "no")]), [history()])), published())


@pytest.mark.parametrize(
    "broken", [{"status": "passed"}, {"schema_version": 2}, {"counts": None}, {"matrix": [{"boundary": "tenant"}]}]
)
def test_schema_refuses_what_no_run_writes(broken: dict[str, Any]) -> None:
    record = json.loads(render(results(judgement(held())), []))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record | broken, published())


def test_status_and_exit_code_stand_first_for_people_who_look_into_the_file() -> None:
    assert list(json.loads(render(results(judgement(held())), [])))[:3] == ["schema_version", "status", "exit_code"]


def published() -> dict[str, Any]:
    """The schema file as it is installed."""
    text = files("partywall.harness.report").joinpath("results.schema.json").read_text("utf-8")
    schema_file: dict[str, Any] = json.loads(text)
    return schema_file
