"""The check of one source text: which keys in it are built by hand."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from .finding import RULE_OF, Finding, missing_of, names_of, shown
from .flow import Flow, Use
from .makers import Makers
from .sinks import Family
from .suppressions import apply, suppressions_of
from .text import Text
from .values import Kind
from .words import Dimension

WITHOUT_SCOPE = "key-without-scope"
_HOMES = frozenset({"home", "Users"})
_URL = re.compile(r"^(?:https?|wss?|ftp)?://")


@dataclass(frozen=True, slots=True)
class Unread:
    """A file, or a place in it, that could not be read; `line` is 0 where no line can be named."""

    path: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in one file: findings in order, how many were suppressed, why it could not be read."""

    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    unread: Unread | None = None


def check_source(source: str | bytes, path: str = "<source>", makers: Iterable[str] = ()) -> Checked:
    """Check one source text; `makers` are the names of functions and classes that make keys.

    A text that cannot be read is answered as `unread`, never raised. UsageError where a maker is no name.
    """
    known = Makers(makers)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the code that is read, such as an invalid escape
            tree = ast.parse(source)
        text = Text(source, tree)
        uses = Flow(tree, known).uses()
    except SyntaxError as error:
        return Checked(unread=Unread(path, error.lineno or 0, f"syntax error: {error.msg}"))
    except (ValueError, LookupError) as error:  # NUL bytes, lone surrogates, an encoding that is unknown
        return Checked(unread=Unread(path, 0, f"syntax error: {error}"))
    except (RecursionError, MemoryError):
        return Checked(unread=Unread(path, 0, "nested too deeply to be followed"))
    found = [finding for use in uses if (finding := _finding(use, path, text)) is not None]
    located = [(finding, text.statement(finding.line)) for finding in _distinct(found)]
    findings, suppressed = apply(path, located, suppressions_of(text.whole))
    return Checked(tuple(findings), suppressed)


def _finding(use: Use, path: str, text: Text) -> tuple[Finding, str] | None:
    """The finding a use is, and what holds the key."""
    value, sink = use.value, use.sink
    rule = _rule(use)
    if not rule:
        return None
    node = value.node if rule != WITHOUT_SCOPE and value.node is not None else use.key
    end = node.end_lineno or node.lineno
    finding = Finding(
        path=path,
        line=node.lineno,
        column=text.column(node.lineno, node.col_offset),
        end_line=end,
        end_column=text.column(end, node.end_col_offset or 0),
        rule=rule,
        expression=shown(text.cut(node)),
        sink=shown(sink.told),
        sink_line=use.at.lineno,
        names=names_of(value.dimensions),
        missing=missing_of(sink.family, value.dimensions),
    )
    return finding, sink.holder or sink.told


def _rule(use: Use) -> str:
    """The rule a use breaks; empty where it breaks none."""
    value, family = use.value, use.sink.family
    sure = value.sure
    if value.kind is Kind.BUILT or (value.kind is Kind.SEVERAL and value.node is not None):
        # `f"{doc_id}.txt"` names a file; `f"doc:{doc_id}"` in a cache is a key anybody may ask for
        lenient = family in (Family.PATH, Family.STORE)
        if family is Family.PATH and value.text.strip("/") in _HOMES:
            return ""  # of an account of the machine
        if _URL.search(value.text):
            return ""  # an address, not a key: what it is asked for says whose it is, or a cookie does
        return RULE_OF[family] if sure or (value.dimensions and not lenient) else ""
    if value.kind not in (Kind.PLAIN, Kind.SEVERAL) or family in (Family.PATH, Family.STORE) or not sure:
        return ""
    if Dimension.TENANT not in value.dimensions:
        # a task of a progress bar or an event loop is nobody's, where it stands alone
        return WITHOUT_SCOPE if sure - {Dimension.TASK} else ""
    # What a tenant has once, such as its settings, is keyed by the tenant alone; what was asked in it is not.
    shared = family is Family.RATE or Dimension.USER in value.dimensions
    return WITHOUT_SCOPE if not shared and sure & {Dimension.CONTENT, Dimension.SESSION} else ""


def _distinct(findings: Iterable[tuple[Finding, str]]) -> list[Finding]:
    """Each expression once a rule, where it is used first; of paths inside paths the whole one."""
    first: dict[tuple[object, ...], Finding] = {}
    for finding, holder in findings:
        # a mapping keyed by a bare name is told once, where it is first used so, and not at every use
        bare = finding.rule == WITHOUT_SCOPE
        place = (holder, finding.names) if bare else _start(finding)
        first.setdefault((finding.rule, place), finding)
    kept: list[Finding] = []
    for finding in sorted(first.values(), key=lambda each: (_start(each), [-end for end in _end(each)])):
        if not any(each.rule == finding.rule and _end(finding) <= _end(each) for each in kept[-8:]):
            kept.append(finding)
    return kept


def _start(finding: Finding) -> tuple[int, int]:
    return finding.line, finding.column


def _end(finding: Finding) -> tuple[int, int]:
    return finding.end_line, finding.end_column
