"""Reporter `text`: what stands on the terminal at the end of a run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from ...judge.verdict import Status
from ...observe.history import History
from ..build import merged
from ..escape import bounded, one_line, without_commands
from ..reporter import Reporter
from ..results import FindingRecord, Results
from ._facts import (
    MARKS,
    WORDS,
    Kind,
    Row,
    carriers,
    controls,
    counted,
    exit_meaning,
    explain,
    inconclusive,
    kinds,
    percent,
    population,
    replay,
    rows,
    title,
    widest,
)

WIDTH = 100
SHOWN_FINDINGS = 10
SHOWN_LINES = 12
_MARGIN = 12
_LOST = 3
_BOUND = "\N{NO-BREAK SPACE}"
_CLAIM = 600
_EXCERPT = 240
_STYLES = {Status.HELD: "green", Status.VIOLATED: "bold red", Status.INCONCLUSIVE: "yellow", Status.NOT_COVERED: "dim"}
_PLAIN_MARKS = str.maketrans({"✔": "+", "✘": "x", "–": "-", "·": "-", "×": "x", "…": "~", "“": '"', "”": '"'})


def render(results: Results, histories: Sequence[History] = ()) -> str:
    """The report without colour, lines of at most 100 columns where they can be broken."""
    return "".join(line.plain + "\n" for line in lines(results, histories))


def print_text(results: Results, console: Console, histories: Sequence[History] = ()) -> None:
    """The report on a console, in colour where the console has it; signs become ASCII where it has no UTF-8.

    Colour only repeats what a sign or a word says. Whether there is colour is the console's business: rich obeys
    `NO_COLOR` and finds out whether it writes to a terminal.
    """
    narrow = not console.encoding.lower().startswith("utf")
    for line in lines(results, histories, max(60, min(console.width, 120))):
        shown = _ascii(line, console.encoding) if narrow else line
        console.print(shown, soft_wrap=True, highlight=False, markup=False, emoji=False)


def lines(results: Results, histories: Sequence[History] = (), width: int = WIDTH) -> Iterator[Text]:
    """The report line by line; no line begins with a workflow command, whatever the target said."""
    told = bounded(results, {history.header.prefix for history in histories})
    yield from _target(told, population(histories), width)
    yield from _controls(told, width)
    yield from _isolation(told, width)
    yield from _checks(told, width)
    yield from _assurance(told, width)
    yield from _findings(told, width)
    yield from _differences(told, width)
    yield _summary(told)
    yield _verdict(told)


def _target(results: Results, population: str, width: int) -> Iterator[Text]:
    status = Status.VIOLATED if results.exit_code == _LOST else Status.HELD
    replicas = f", {results.target.replicas} replicas" if results.target.replicas > 1 else ""
    name = one_line(results.target.name, _EXCERPT)
    yield from _line("target", f"{name}{replicas}   {population}".rstrip(), width, status)
    for name, told in (("failed", results.failures), ("problem", results.problems)):
        yield from _list(name, told, width, Status.VIOLATED if name == "failed" else Status.INCONCLUSIVE)


def _controls(results: Results, width: int) -> Iterator[Text]:
    every, failed = controls(results)
    if not every:
        yield from _line("controls", "none was possible, so nothing here can be held", width, Status.INCONCLUSIVE)
        return
    told = f"{len(every) - len(failed)} of {len(every)} passed"
    if not failed:
        told += ": each viewer can see its own canary, and the detector fires"
    yield from _line("controls", told, width, Status.INCONCLUSIVE if failed else Status.HELD)
    yield from _list("failed", [f"{control.name}: {control.detail}" for control in failed], width)


def _isolation(results: Results, width: int) -> Iterator[Text]:
    """Boundaries whose channels fared alike share a line, so that no line claims a channel that was not tried."""
    groups: dict[tuple[tuple[str, str], ...], list[Row]] = {}
    for row in rows(results):
        tried = [(name, row.channel(name)) for name in row.cells]
        spelled = tuple((name, _spelled(row, name, status)) for name, status in tried if status != Status.NOT_COVERED)
        groups.setdefault(spelled, []).append(row)
    heading = "isolation"
    for spellings, members in groups.items():
        told = "  ".join(f"{one_line(row.boundary, 40)}{_BOUND}{MARKS[row.status]}" for row in members)
        over = ", ".join(one_line(spelling, 80) for _, spelling in spellings) or "no channel"
        yield from _line(heading, f"{told}   over {over}", width)
        heading = ""


def _spelled(row: Row, channel: str, status: Status) -> str:
    worn = carriers(row.cells[channel])
    return (f"{channel} {MARKS[status]}" if status is not Status.HELD else channel) + (
        f" ({', '.join(worn)})" if worn else ""
    )


def _checks(results: Results, width: int) -> Iterator[Text]:
    told = [f"{one_line(check, 40)}{_BOUND}{MARKS[status]}" for check, (status, _) in merged(results).items()]
    if told:
        yield from _line("checks", "  ".join(told), width)
    yield from _list("undecided", [f"{check}: {reason}" for check, reason in inconclusive(results)], width)
    absent = [
        record.check + (f": {record.reason}" if record.reason else f": needs {', '.join(record.needs)}")
        for record in results.not_covered
    ]
    yield from _list("not covered", absent, width, Status.NOT_COVERED)


def _assurance(results: Results, width: int) -> Iterator[Text]:
    told = [
        f"{record.statement}: {record.k} of {record.n}, so below {percent(record.upper)} at "
        f"{percent(record.confidence)}; {percent(record.sensitivity)} of the controls passed"
        for record in results.assurance
    ]
    yield from _list("assurance", told, width)


def _findings(results: Results, width: int) -> Iterator[Text]:
    found = kinds(results)
    for kind in found[:SHOWN_FINDINGS]:
        yield Text()
        yield from _finding(kind, width)
    if len(found) > SHOWN_FINDINGS:
        yield Text()
        yield from _line("", f"{len(found) - SHOWN_FINDINGS} more kinds of finding stand in results.json", width)
    if found:
        yield Text()


def _differences(results: Results, width: int) -> Iterator[Text]:
    """What a violated run shows of a demo that was taken for production."""
    told = []
    for each in results.differences:
        if Status(each.status) is Status.VIOLATED:
            late = ", structural: cannot be backfilled" * each.structural
            told.append(f"{each.number} {each.demo} ({', '.join(each.codes)}{late}); in production: {each.production}")
    yield from _list("like a demo", told, width, Status.VIOLATED)
    if told:
        yield Text()


def _finding(kind: Kind, width: int) -> Iterator[Text]:
    finding = kind.first
    heading = f"{MARKS[Status.VIOLATED]} {one_line(finding.code, 40)} {title(finding.code)}"
    yield _styled(without_commands(heading), Status.VIOLATED)
    yield from _line("claim", one_line(finding.claim, _CLAIM), width)
    yield from _evidence(finding, width)
    if kind.count > 1:
        trials = f" in {len(kind.trials)} trials" if len(kind.trials) > 1 else ""
        yield from _line("seen", f"{kind.count} findings of this kind{trials}", width)
    # commands stand unbroken, to be copied
    yield _headed("replay", without_commands(replay(one_line(finding.trial, _CLAIM))))
    yield _headed("explain", without_commands(explain(one_line(finding.code, 40))))


def _evidence(finding: FindingRecord, width: int) -> Iterator[Text]:
    if not finding.evidence:
        return
    first = finding.evidence[0]
    place = f" at {first.place}" if first.place else ""
    yield from _line("first seen", one_line(f"probe {first.probe}, {first.op}{place}", _EXCERPT), width)
    if first.excerpt:
        yield from _line("evidence", f"“{one_line(first.excerpt, _EXCERPT)}”", width)
    if first.decoded:
        yield from _line("decoded", one_line(" → ".join(first.decoded), _EXCERPT), width)
    if first.planted_by:
        yield from _line("planted by", one_line(first.planted_by, _EXCERPT), width)


def _summary(results: Results) -> Text:
    counts, bound = results.counts, widest(results)
    violations = sum(len(verdict.findings) for verdict in results.verdicts)
    parts = [
        counted(violations, "violation"),
        f"{counts.observations_checked} of {counts.observations_total} observations checked",
        f"upper bound {percent(bound.upper)} at {percent(bound.confidence)}" if bound else "no upper bound",
        f"seed {results.seed}",
        f"{results.seconds:.1f} s",
    ]
    return Text(" · ".join(parts))


def _verdict(results: Results) -> Text:
    status = Status(results.status)
    verdict = _styled(f"{MARKS[status]} {WORDS[status]}", status)
    return verdict.append(f"   exit {results.exit_code}: {exit_meaning(results)}", "default")


def _list(heading: str, told: Sequence[str], width: int, status: Status | None = None) -> Iterator[Text]:
    for text in told[:SHOWN_LINES]:
        yield from _line(heading, one_line(text, _CLAIM), width, status)
        heading = ""
    if len(told) > SHOWN_LINES:
        yield from _line("", f"and {len(told) - SHOWN_LINES} more", width)


def _line(heading: str, text: str, width: int, status: Status | None = None) -> Iterator[Text]:
    """One paragraph beside its heading; every line of it is free of workflow commands."""
    for part in textwrap.wrap(text, width - _MARGIN - 3) or [""]:
        yield _headed(heading, without_commands(part.replace(_BOUND, " ")), status)
        heading, status = "", None


def _headed(heading: str, text: str, status: Status | None = None) -> Text:
    line = _styled(MARKS[status], status) if status else Text(" ")
    return line.append(f" {heading:<{_MARGIN}}", "bold" if heading else "").append(text, "default")


def _styled(text: str, status: Status) -> Text:
    return Text().append(text, _STYLES[status])


def _ascii(line: Text, encoding: str) -> Text:
    return Text(line.plain.translate(_PLAIN_MARKS).encode(encoding, "replace").decode(encoding))


REPORTER = Reporter("text", "report.txt", "what stands on the terminal, without colour", render)
