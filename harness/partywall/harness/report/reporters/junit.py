"""Reporter `junit`: junit.xml for CI, one test case a scenario and check."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree

from ...judge.verdict import Status, worst
from ...observe.history import History
from ..escape import bounded, for_xml, one_line
from ..reporter import Reporter
from ..results import FindingRecord, Results, VerdictRecord
from ._facts import explain, replay, title

_MESSAGE = 1000
_CASE_FINDINGS = 50


def render(results: Results, histories: Sequence[History] = ()) -> str:
    """JUnit XML in the form that pytest calls xunit2; at most one failure a test case.

    What violated a guarantee and what could not be decided is a failure (type `inconclusive` for the latter); what
    the target cannot be asked is skipped, with the reason; a target that was lost is an error.
    """
    told = bounded(results, {history.header.prefix for history in histories})
    cases = _unique([*_checks(told), *_not_run(told), *_harness(told)])
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
        "time": f"{told.seconds:.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": "partywall", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "partywall", **counts})
    if clocks := [history.header.clock for history in histories if history.header.clock > 0]:
        suite.set("timestamp", datetime.fromtimestamp(min(clocks), UTC).isoformat(timespec="seconds"))
    suite.extend(cases)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _checks(results: Results) -> list[ElementTree.Element]:
    """Trials of one scenario (worlds, seeds, sizes) meet in one case: the worst of them decides."""
    scenario_of = {record.trial: record.scenario for record in results.trials}
    groups: dict[tuple[str, str], list[VerdictRecord]] = {}
    for verdict in results.verdicts:
        groups.setdefault((scenario_of.get(verdict.trial, "unknown"), verdict.check), []).append(verdict)
    return [_check(scenario, check, verdicts) for (scenario, check), verdicts in groups.items()]


def _check(scenario: str, check: str, verdicts: Sequence[VerdictRecord]) -> ElementTree.Element:
    case = _case(f"partywall.{scenario}", f"{scenario}[{check}]")
    status = worst(Status(verdict.status) for verdict in verdicts)
    deciding = [verdict for verdict in verdicts if verdict.status == status]
    reason = next((verdict.reason for verdict in deciding if verdict.reason), "")
    if status is Status.VIOLATED:
        findings = [finding for verdict in deciding for finding in verdict.findings]
        codes = ",".join(dict.fromkeys(finding.code for finding in findings))
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        message = (findings[0].claim + more) if findings else reason
        _told(case, "failure", message, "\n\n".join(map(_finding, findings[:_CASE_FINDINGS])), codes or "violated")
    elif status is Status.INCONCLUSIVE:
        body = "\n".join([reason, *(replay(verdict.trial) for verdict in deciding)])
        _told(case, "failure", f"inconclusive: {reason}", body, "inconclusive")
    elif status is Status.NOT_COVERED:
        _told(case, "skipped", reason or "not covered", "", "")
    return case


def _finding(finding: FindingRecord) -> str:
    lines = [f"{finding.code} {title(finding.code)}", finding.claim]
    for piece in finding.evidence[:3]:
        worn = f" (decoded: {' → '.join(piece.decoded)})" if piece.decoded else ""
        lines.append(f"probe {piece.probe}, {piece.op} {piece.place}: {one_line(piece.excerpt, _MESSAGE)}{worn}")
    return "\n".join([*lines, replay(finding.trial), explain(finding.code)])


def _not_run(results: Results) -> list[ElementTree.Element]:
    """Scenarios that were not put to the target; checks that no trial covered have their cases already."""
    judged = {verdict.check for verdict in results.verdicts}
    cases = []
    for record in results.not_covered:
        if record.check in judged:
            continue
        name = record.check.removeprefix("scenario ")
        case = _case(f"partywall.{name}", f"{name}[not run]")
        needs = f"needs {', '.join(record.needs)}" if record.needs else "not covered"
        _told(case, "skipped", record.reason or needs, "", "")
        cases.append(case)
    return cases


def _harness(results: Results) -> list[ElementTree.Element]:
    """What went wrong with the run itself: one case, so that a lost target cannot look like a short green run."""
    told = [*results.failures, *results.problems]
    if not told:
        return []
    case = _case("partywall", "run")
    _told(case, "error", told[0], "\n".join(told), "failure" if results.failures else "problem")
    return [case]


def _unique(cases: list[ElementTree.Element]) -> list[ElementTree.Element]:
    """Names told apart that differed only in what was stripped of them: a CI server keeps one case a name."""
    seen: dict[str, int] = {}
    for case in cases:
        name = case.attrib["name"]
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            case.set("name", f"{name} ({seen[name]})")
    return cases


def _case(classname: str, name: str) -> ElementTree.Element:
    attributes = {"classname": one_line(classname, _MESSAGE), "name": one_line(name, _MESSAGE), "time": "0.000"}
    return ElementTree.Element("testcase", attributes)


def _told(case: ElementTree.Element, tag: str, message: str, body: str, kind: str) -> None:
    element = ElementTree.SubElement(case, tag, {"message": one_line(message, _MESSAGE)})
    if kind:
        element.set("type", one_line(kind, _MESSAGE))
    if body:
        element.text = for_xml(body)


REPORTER = Reporter("junit", "junit.xml", "JUnit XML for CI, one test case a scenario and check", render)
