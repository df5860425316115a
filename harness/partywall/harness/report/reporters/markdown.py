"""Reporter `markdown`: summary.md, for the step summary of a CI run or a comment on a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...judge.verdict import Status
from ...observe.history import History
from ..build import merged
from ..escape import bounded, for_markdown
from ..reporter import Reporter
from ..results import Results
from ._facts import (
    MARKS,
    WORDS,
    Kind,
    Row,
    carriers,
    channels,
    controls,
    counted,
    exit_meaning,
    explain,
    kinds,
    percent,
    replay,
    rows,
    title,
)

SHOWN_FINDINGS = 25
SHOWN_ROWS = 60
_LONG = 1000
_SHORT = 300


def render(results: Results, histories: Sequence[History] = ()) -> str:
    """GitHub-flavoured Markdown, well below the megabyte that a step summary may have."""
    told = bounded(results, {history.header.prefix for history in histories})
    blocks = [*_status(told), *_matrix(told), *_checks(told), *_findings(told), *_not_covered(told), *_assurance(told)]
    return "\n\n".join(blocks) + "\n"


def _status(results: Results) -> Iterator[str]:
    status = Status(results.status)
    counts = results.counts
    every, failed = controls(results)
    yield f"## {MARKS[status]} {WORDS[status]}: {_code(results.target.name)}"
    violations = sum(len(verdict.findings) for verdict in results.verdicts)
    yield (
        f"{counted(violations, 'violation')} · "
        f"{counts.observations_checked} of {counts.observations_total} observations checked · "
        f"{len(every) - len(failed)} of {len(every)} controls passed · seed {results.seed} · {results.seconds:.1f} s · "
        f"exit {results.exit_code}: {exit_meaning(results)}"
    )
    told = [*results.failures, *results.problems][:SHOWN_ROWS]
    if told:
        yield "\n".join(f"- {for_markdown(text, _LONG)}" for text in told)


def _matrix(results: Results) -> Iterator[str]:
    found = rows(results)
    if not found:
        return
    every = channels(results)
    names = every[:SHOWN_ROWS]
    yield "### What crossed which boundary, by channel"
    yield _table(
        ["boundary", *(for_markdown(name, _SHORT) for name in names)],
        ([for_markdown(row.boundary, _SHORT), *(_cell(row, name) for name in names)] for row in found[:SHOWN_ROWS]),
    )
    if len(every) > SHOWN_ROWS:
        yield f"{len(every) - SHOWN_ROWS} more channels stand in `results.json`."
    yield " · ".join(f"{mark} {WORDS[status].lower()}" for status, mark in MARKS.items())


def _cell(row: Row, channel: str) -> str:
    worn = carriers(row.cells.get(channel, ()))
    return MARKS[row.channel(channel)] + (f" as {for_markdown(', '.join(worn), _SHORT)}" if worn else "")


def _checks(results: Results) -> Iterator[str]:
    found = merged(results)
    if found:
        yield "### Checks"
        yield _table(
            ["check", "verdict", "reason"],
            (
                [for_markdown(check, _SHORT), f"{MARKS[status]} {WORDS[status]}", for_markdown(reason, _SHORT)]
                for check, (status, reason) in list(found.items())[:SHOWN_ROWS]
            ),
        )


def _findings(results: Results) -> Iterator[str]:
    found = kinds(results)
    if found:
        yield f"### Findings ({counted(len(found), 'kind')})"
    for kind in found[:SHOWN_FINDINGS]:
        yield _finding(kind)
    if len(found) > SHOWN_FINDINGS:
        yield f"{len(found) - SHOWN_FINDINGS} more kinds of finding stand in `results.json`."


def _finding(kind: Kind) -> str:
    finding = kind.first
    lines = [
        f"**{for_markdown(finding.code, _SHORT)} {title(finding.code)}**",
        f"- {for_markdown(finding.claim, _LONG)}",
    ]
    if finding.evidence:
        first = finding.evidence[0]
        worn = f", decoded {for_markdown(' → '.join(first.decoded), _SHORT)}" if first.decoded else ""
        place = f" at {_code(first.place)}" if first.place else ""
        lines.append(f"- first seen: probe {_code(first.probe)}, {for_markdown(first.op, _SHORT)}{place}{worn}")
        if first.excerpt:
            lines.append(f"- evidence: {_code(first.excerpt)}")
    if kind.count > 1:
        lines.append(f"- {kind.count} findings of this kind, in {counted(len(kind.trials), 'trial')}")
    return "\n".join([*lines, f"- {_code(replay(finding.trial), _LONG)}", f"- {_code(explain(finding.code))}"])


def _not_covered(results: Results) -> Iterator[str]:
    if not results.not_covered:
        return
    yield "### Not covered"
    listed = (
        [for_markdown(record.check, _SHORT), for_markdown(record.reason or f"needs {', '.join(record.needs)}", _SHORT)]
        for record in results.not_covered[:SHOWN_ROWS]
    )
    yield _table(["check or scenario", "why"], listed)
    if len(results.not_covered) > SHOWN_ROWS:
        yield f"{len(results.not_covered) - SHOWN_ROWS} more stand in `results.json`."


def _assurance(results: Results) -> Iterator[str]:
    if not results.assurance:
        return
    yield "### What can be claimed"
    yield _table(
        ["statement", "k of n", "upper bound", "confidence", "controls passed"],
        (
            [
                for_markdown(record.statement, _SHORT),
                f"{record.k} of {record.n}",
                percent(record.upper),
                percent(record.confidence),
                percent(record.sensitivity),
            ]
            for record in results.assurance[:SHOWN_ROWS]
        ),
    )


def _table(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _code(text: str, limit: int = _SHORT) -> str:
    """Target text set as code; entities, since no run of backticks can be fenced within a table for sure."""
    return f"<code>{for_markdown(text, limit)}</code>"


REPORTER = Reporter("markdown", "summary.md", "Markdown for the step summary of a CI run", render)
