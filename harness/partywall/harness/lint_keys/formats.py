"""The forms a report is told in: lines for people, JSON, annotations of a GitHub workflow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from .check import Unread
from .finding import Finding, shown
from .tree import Report

VERSION = 1
"""Version of the JSON shape; a member is added without raising it, never taken away or renamed."""


def as_text(report: Report) -> Iterator[str]:
    """One line a finding, one a file that could not be read, one of counts."""
    for finding in report.findings:
        place = f"{shown(finding.path, 0)}:{finding.line}:{finding.column}"
        yield f"{place}: {finding.rule} {shown(finding.message, 0)}"
    for unread in report.unread:
        yield f"{_place(unread)}: {shown(unread.why, 0)}"
    told = f"{len(report.findings)} found in {report.files} file{'s' if report.files != 1 else ''}"
    yield told + (f", {report.suppressed} suppressed" if report.suppressed else "")


def as_json(report: Report) -> Iterator[str]:
    """One object: version, files, suppressed, findings, unread."""
    record = {
        "version": VERSION,
        "files": report.files,
        "suppressed": report.suppressed,
        "findings": [_finding(finding) for finding in report.findings],
        "unread": [{"path": each.path, "line": each.line, "why": each.why} for each in report.unread],
    }
    yield json.dumps(record, indent=2)  # ASCII: a lone surrogate in a path stays an escape


def as_github(report: Report) -> Iterator[str]:
    """Workflow commands: an error annotation a finding and a file that could not be read."""
    for finding in report.findings:
        place = f"file={_property(finding.path)},line={finding.line},endLine={finding.end_line},col={finding.column}"
        if finding.line == finding.end_line:
            place += f",endColumn={finding.end_column}"
        yield f"::error {place},title={_property(finding.rule)}::{_data(finding.message)}"
    for unread in report.unread:
        line = f",line={unread.line}" if unread.line else ""
        yield f"::error file={_property(unread.path)}{line},title=unread::{_data(unread.why)}"


FORMATS: dict[str, Callable[[Report], Iterator[str]]] = {"text": as_text, "json": as_json, "github": as_github}


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "rule": finding.rule,
        "expression": finding.expression,
        "sink": finding.sink,
        "sink_line": finding.sink_line,
        "names": list(finding.names),
        "missing": list(finding.missing),
        "message": finding.message,
    }


def _place(unread: Unread) -> str:
    return f"{shown(unread.path, 0)}:{unread.line}" if unread.line else shown(unread.path, 0)


def _data(text: str) -> str:
    """Escaped as the runner un-escapes the message of a command."""
    return shown(text, 0).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
