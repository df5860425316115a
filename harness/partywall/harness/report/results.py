"""Results: what `results.json` holds, schema version 1. Every other report is a pure function of it and the history."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

StatusName = Literal["held", "violated", "inconclusive", "not_covered"]


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class EvidenceRecord(_Record):
    """One sighting: the probe that saw it, the place in its answer (JSON pointer), the text around it, redacted."""

    probe: str
    op: str
    place: str = ""
    excerpt: str = ""
    decoded: list[str] = Field(default_factory=list)
    canary: str = ""
    planted_by: str = ""
    at: int = 0


class FindingRecord(_Record):
    """One kind of violation; `fingerprint` names it across runs."""

    code: str
    boundary: str
    claim: str
    owner: str
    observer: str
    channel: str
    carrier: str = "plain"
    fingerprint: str
    trial: str
    evidence: list[EvidenceRecord] = Field(default_factory=list)


class ControlRecord(_Record):
    """A positive control of a verdict."""

    name: str
    channel: str
    passed: bool
    detail: str = ""


class VerdictRecord(_Record):
    """What one check says of one trial."""

    check: str
    guarantee: str
    status: StatusName
    reason: str = ""
    trial: str
    findings: list[FindingRecord] = Field(default_factory=list)
    controls: list[ControlRecord] = Field(default_factory=list)


class CellRecord(_Record):
    """One field of the matrix, over all trials."""

    boundary: str
    channel: str
    carrier: str
    status: StatusName
    control: bool


class NotCoveredRecord(_Record):
    """A check or scenario that could not be put to the target, and what it would have needed."""

    check: str
    needs: list[str]
    reason: str = ""


class TargetRecord(_Record):
    """What was verified."""

    name: str
    operations: list[str]
    replicas: int = 1


class TrialRecord(_Record):
    """One trial: the line that replays it, and its worst verdict."""

    trial: str
    scenario: str
    world: str = "main"
    status: StatusName
    probes: int = 0


class ChecklistRecord(_Record):
    """One point of the production checklist."""

    point: int
    status: StatusName
    evidence: str


class DifferenceRecord(_Record):
    """One of the ten differences between a demo and production; `codes` are those of the findings that show it."""

    number: int
    demo: str
    production: str
    structural: bool
    status: StatusName
    codes: list[str]


class AssuranceRecord(_Record):
    """A statement with its denominator: k failures of n independent trials, the upper bound of the rate."""

    statement: str
    n: int
    k: int
    upper: float
    confidence: float
    sensitivity: float


class CountsRecord(_Record):
    """How much was looked at."""

    probes: int
    observations_checked: int
    observations_total: int


class Results(_Record):
    """The whole of `results.json`."""

    schema_version: Literal[1] = 1
    status: StatusName
    exit_code: int = 0
    trial: str
    seed: int
    seconds: float = 0.0
    target: TargetRecord
    trials: list[TrialRecord]
    verdicts: list[VerdictRecord]
    matrix: list[CellRecord]
    not_covered: list[NotCoveredRecord]
    checklist: list[ChecklistRecord]
    differences: list[DifferenceRecord] = Field(default_factory=list)
    assurance: list[AssuranceRecord]
    counts: CountsRecord
    problems: list[str] = Field(default_factory=list)
    failures: list[str] = Field(default_factory=list)


def schema() -> dict[str, Any]:
    """The JSON Schema of `results.json`, as published in the package."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "partywall results, schema version 1",
        **Results.model_json_schema(),
    }
