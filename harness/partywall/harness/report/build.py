"""Build: from judgements to results: merging over trials, the matrix, what was not covered, what can be claimed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..judge.assurance import clopper_pearson_upper
from ..judge.differences import differences
from ..judge.verdict import Cell, Finding, Judgement, Status, Verdict, worst
from ..plan.capabilities import Capabilities
from .results import (
    AssuranceRecord,
    CellRecord,
    ControlRecord,
    CountsRecord,
    DifferenceRecord,
    EvidenceRecord,
    FindingRecord,
    NotCoveredRecord,
    Results,
    TargetRecord,
    TrialRecord,
    VerdictRecord,
)

CONFIDENCE = 0.95


def build(
    judgements: Sequence[Judgement],
    *,
    target: str,
    capabilities: Capabilities | None,
    trial: str,
    seed: int,
    status: Status,
    exit_code: int = 0,
    seconds: float = 0.0,
    skipped: Iterable[tuple[str, str]] = (),
    asked: Iterable[str] | None = None,
    problems: Iterable[str] = (),
    failures: Iterable[str] = (),
) -> Results:
    """The results of a run. `skipped` are (scenario, reason) of those not put to the target, `asked` the operations
    that were called."""
    verdicts = [_verdict(judgement, verdict) for judgement in judgements for verdict in judgement.verdicts]
    return Results(
        status=status.value,
        exit_code=exit_code,
        trial=trial,
        seed=seed,
        seconds=round(seconds, 3),
        target=TargetRecord(
            name=target,
            operations=sorted(capabilities.operations) if capabilities else [],
            replicas=capabilities.replicas if capabilities else 1,
        ),
        trials=[_trial(judgement) for judgement in judgements],
        verdicts=verdicts,
        matrix=_matrix(cell for judgement in judgements for verdict in judgement.verdicts for cell in verdict.cells),
        not_covered=[*_not_covered(judgements, skipped), *_never_asked(capabilities, asked)],
        checklist=[],
        differences=_differences(judgements),
        assurance=_assurance(judgements),
        counts=CountsRecord(
            probes=_sum(judgements, "probes"),
            observations_checked=_sum(judgements, "observations_checked"),
            observations_total=_sum(judgements, "observations_total"),
        ),
        problems=list(problems),
        failures=list(failures),
    )


def merged(results: Results) -> Mapping[str, tuple[Status, str]]:
    """Each check's worst status over all trials, with the reason that was given for it."""
    found: dict[str, tuple[Status, str]] = {}
    for verdict in results.verdicts:
        status = Status(verdict.status)
        known = found.get(verdict.check)
        if known is None or (worst((known[0], status)) is status and status is not known[0]):
            found[verdict.check] = (status, verdict.reason)
    return found


def _verdict(judgement: Judgement, verdict: Verdict) -> VerdictRecord:
    return VerdictRecord(
        check=verdict.check,
        guarantee=verdict.guarantee.value,
        status=verdict.status.value,
        reason=verdict.reason,
        trial=str(judgement.trial),
        findings=[_finding(judgement, finding) for finding in verdict.findings],
        controls=[
            ControlRecord(name=control.name, channel=control.channel, passed=control.passed, detail=control.detail)
            for control in verdict.controls
        ],
    )


def _finding(judgement: Judgement, finding: Finding) -> FindingRecord:
    return FindingRecord(
        code=finding.code,
        boundary=finding.boundary,
        claim=finding.claim,
        owner=finding.owner,
        observer=finding.observer,
        channel=finding.channel,
        carrier=finding.carrier,
        fingerprint=finding.fingerprint,
        trial=str(judgement.trial),
        evidence=[
            EvidenceRecord(
                probe=item.probe,
                op=item.op,
                place=item.place,
                excerpt=item.excerpt,
                decoded=list(item.decoded),
                canary=item.canary,
                planted_by=item.planted_by,
                at=item.at,
            )
            for item in finding.evidence
        ],
    )


def _trial(judgement: Judgement) -> TrialRecord:
    return TrialRecord(
        trial=str(judgement.trial),
        scenario=judgement.trial.scenario,
        world=judgement.world,
        status=judgement.status.value,
        probes=judgement.counts.get("probes", 0),
    )


def _matrix(cells: Iterable[Cell]) -> list[CellRecord]:
    """One cell a boundary, channel and carrier: worst over the trials that tried it.

    Its control counts as passed where every trial that gave this status had one; a clean `plain` cell gives way
    to a violated one of another carrier.
    """
    grouped: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        grouped.setdefault((cell.boundary, cell.channel, cell.carrier), []).append(cell)
    crossed = {
        (boundary, channel)
        for (boundary, channel, _), found in grouped.items()
        if any(c.status is Status.VIOLATED for c in found)
    }
    records = []
    for (boundary, channel, carrier), found in grouped.items():
        status = worst(cell.status for cell in found)
        if status is not Status.VIOLATED and (boundary, channel) in crossed:
            continue
        control = all(cell.control for cell in found if cell.status is status)
        records.append(
            CellRecord(boundary=boundary, channel=channel, carrier=carrier, status=status.value, control=control)
        )
    return records


def _not_covered(judgements: Sequence[Judgement], skipped: Iterable[tuple[str, str]]) -> list[NotCoveredRecord]:
    """Checks that no trial covered, and scenarios that were not run."""
    covered = {v.check for j in judgements for v in j.verdicts if v.status is not Status.NOT_COVERED}
    found: dict[str, NotCoveredRecord] = {}
    for judgement in judgements:
        for verdict in judgement.verdicts:
            if verdict.check not in covered:
                found[verdict.check] = NotCoveredRecord(
                    check=verdict.check, needs=list(verdict.needs), reason=verdict.reason
                )
    for scenario, reason in skipped:
        found[f"scenario {scenario}"] = NotCoveredRecord(check=f"scenario {scenario}", needs=[], reason=reason)
    return list(found.values())


def _never_asked(capabilities: Capabilities | None, asked: Iterable[str] | None) -> list[NotCoveredRecord]:
    """Operations that the target offers and no probe of the run called: nothing was found out about them."""
    if capabilities is None or asked is None:
        return []
    idle = sorted(capabilities.operations - set(asked))
    if not idle:
        return []
    return [NotCoveredRecord(check="operations", needs=[], reason=f"offered and never asked: {', '.join(idle)}")]


def _differences(judgements: Sequence[Judgement]) -> list[DifferenceRecord]:
    return [
        DifferenceRecord(
            number=told.difference.number,
            demo=told.difference.demo,
            production=told.difference.production,
            structural=told.difference.structural,
            status=told.status.value,
            codes=list(told.codes),
        )
        for told in differences(judgements)
    ]


def _assurance(judgements: Sequence[Judgement]) -> list[AssuranceRecord]:
    """What zero (or k) crossings in n trials allow to be claimed, direction by direction.

    A trial here is one world looked at through one channel under a passed control. Looks, viewers and carriers of
    the same world and channel count once: they share its target and its schedule, so they are no independent
    evidence, and a leak that wears three dresses is one crossing.
    """
    records = []
    for boundary in ("tenant", "user", "session", "task"):
        tried: dict[tuple[int, str], Status] = {}
        passed: list[bool] = []
        for number, judgement in enumerate(judgements):
            looked = [verdict for verdict in judgement.verdicts if any(c.boundary == boundary for c in verdict.cells)]
            passed += [control.passed for verdict in looked for control in verdict.controls]
            for cell in (cell for verdict in looked for cell in verdict.cells if cell.boundary == boundary):
                if cell.status in (Status.HELD, Status.VIOLATED):
                    place = (number, cell.channel)
                    tried[place] = worst((tried.get(place, Status.HELD), cell.status))
        if not tried:
            continue
        n, k = len(tried), sum(status is Status.VIOLATED for status in tried.values())
        records.append(
            AssuranceRecord(
                statement=f"crossings of {boundary} per world and channel",
                n=n,
                k=k,
                upper=clopper_pearson_upper(k, n, CONFIDENCE),
                confidence=CONFIDENCE,
                sensitivity=round(sum(passed) / len(passed), 4) if passed else 0.0,
            )
        )
    return records


def _sum(judgements: Sequence[Judgement], name: str) -> int:
    return sum(judgement.counts.get(name, 0) for judgement in judgements)
