"""Suppressions: `# partywall: allow RULE — reason`, on a line of the reported statement or alone on the line above."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass, field

from ..errors import unknown
from .finding import RULES, Finding

_COMMENT = re.compile(r"#\s*partywall:\s*allow\b\s*(?P<rules>[\w-]*(?:\s*,\s*[\w-]+)*)\s*(?P<rest>.*)")
_DASH = re.compile(r"^(?:—|–|-{1,2}|:)\s*(?=.*\w)")


@dataclass(slots=True)
class Suppression:
    """One comment: the rules it allows, the lines it holds for, whether it has been of use."""

    line: int
    column: int
    end_column: int
    rules: tuple[str, ...]
    reason: str
    alone: bool
    used: set[str] = field(default_factory=set)


def suppressions_of(source: str) -> list[Suppression]:
    """The comments of a file that suppress; text inside literals is none."""
    if "partywall:" not in source:
        return []
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            match = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if match is None:
                continue
            rules = tuple(rule.strip() for rule in match["rules"].split(",") if rule.strip("- "))
            reason = _DASH.sub("", match["rest"].strip()) if _DASH.match(match["rest"].strip()) else ""
            line, column = token.start
            alone = not token.line[:column].strip()
            found.append(Suppression(line, column + 1, token.end[1] + 1, rules, reason.strip(), alone))
    except (tokenize.TokenError, SyntaxError):
        # the parser read the file and the tokenizer gave up at its end: the comments before that count
        return found
    return found


def apply(path: str, findings: list[tuple[Finding, range]], comments: list[Suppression]) -> tuple[list[Finding], int]:
    """The findings that stay, with what is wrong about the comments themselves; and how many were suppressed.

    Each finding comes with the lines of the statement it stands in. A comment without a reason suppresses nothing.
    """
    kept: list[Finding] = []
    for finding, lines in findings:
        about = [each for each in comments if finding.rule in each.rules and each.reason and _covers(each, lines)]
        for each in about:
            each.used.add(finding.rule)
        if not about:
            kept.append(finding)
    suppressed = len(findings) - len(kept)
    for each in comments:
        kept += _about(path, each)
    return sorted(kept), suppressed


def _covers(comment: Suppression, lines: range) -> bool:
    return comment.line in lines or (comment.alone and comment.line == lines.start - 1)


def _about(path: str, comment: Suppression) -> list[Finding]:
    def told(rule: str, problem: str) -> Finding:
        return Finding(path, comment.line, comment.column, comment.line, comment.end_column, rule, problem=problem)

    found = [
        told(
            "suppression-unknown-rule",
            str(unknown("rule", rule, [each for each in RULES if "suppression" not in each])),
        )
        for rule in comment.rules
        if rule not in RULES or rule.startswith("suppression")
    ]
    if not comment.rules:
        return [told("suppression-unknown-rule", "the suppression names no rule")]
    if not comment.reason:
        return [*found, told("suppression-without-reason", f"`allow {', '.join(comment.rules)}` gives no reason")]
    if found:
        return found
    return [
        told("suppression-unused", f"`allow {rule}` suppresses nothing")
        for rule in comment.rules
        if rule not in comment.used
    ]
