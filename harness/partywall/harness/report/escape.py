"""Escape: text that came from a target is hostile; here it is made harmless for each place where it is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from partywall.canaries import DEFAULT_PREFIX, redact_tokens
from rich.markup import escape as _escape_markup

from .results import Results

MAX_FINDINGS = 500
MAX_EVIDENCE = 64 * 1024
"""Bytes of evidence kept for one finding, and of any one text."""

_SEQUENCES = re.compile(
    # OSC, DCS, SOS, PM, APC with their terminator; the body excludes every introducer, so that a text made of
    # introducers alone is read in linear time
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
    # CSI: parameters, intermediates, final byte (ECMA-48, 5.4)
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
)
_BREAKS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_REPLACED: dict[int, str | None] = dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "�")
_CONTROLS: dict[int, str | None] = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A})
_DIRECTIONS: dict[int, str | None] = dict.fromkeys(
    (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x2070))
)
_INVISIBLE: dict[int, str | None] = dict.fromkeys(
    (
        *(0x00AD, 0x180E, 0x200B, 0x200C, 0x200D, 0xFEFF, 0xFFF9, 0xFFFA, 0xFFFB),
        *range(0x2060, 0x2066),
        *range(0xE0000, 0xE01F0),
    )
)
_VISIBLE = _REPLACED | _CONTROLS | _DIRECTIONS
_ALL = _VISIBLE | _INVISIBLE
_MARKDOWN = {ord(sign): f"&#{ord(sign)};" for sign in '\\`*_{}[]()#+!|~@:$^"'} | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
}
_COMMAND = re.compile(r"^(\s*):(?=:)")
_LOG_COMMAND = re.compile(r"##(?=\[|vso\[)", re.IGNORECASE)


def harmless(text: str, *, invisible: bool = True) -> str:
    """`text` without control sequences, control characters (but tab and line feed) and direction marks.

    Lone surrogates and non-characters become U+FFFD, so that the text can be written as UTF-8 and XML.
    `invisible` also removes zero-width and tag characters, which hide words from readers and canaries from
    redaction. An unterminated sequence loses its introducer only: what follows it stays to be read.
    """
    if text.isascii() and text.isprintable():
        return text
    return _BREAKS.sub("\n", _SEQUENCES.sub("", text)).translate(_ALL if invisible else _VISIBLE)


def redacted(text: str, prefixes: Iterable[str] = (DEFAULT_PREFIX,)) -> str:
    """`text` made harmless, every canary shortened, also one that control sequences were laid into."""
    known = tuple(prefixes)
    for prefix in known:
        # the final byte of a sequence is any letter: it must not swallow the first one of a canary
        text = re.sub(rf"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?={re.escape(prefix)})", "", text, flags=re.IGNORECASE)
    text = harmless(text)
    for prefix in known:
        text = redact_tokens(text, prefix)
    return text


def one_line(text: str, limit: int = 0) -> str:
    """`text` made harmless, on one line, every run of white space one blank; cut after `limit` characters."""
    line = " ".join(harmless(text).split())
    return f"{line[:limit]}… ({len(line) - limit} more characters)" if 0 < limit < len(line) else line


def for_terminal(text: str) -> str:
    """One line for a rich console that reads markup: brackets do not style, and CI reads no command in it."""
    return _escape_markup(without_commands(one_line(text)))


def for_markdown(text: str, limit: int = 0) -> str:
    """One line for Markdown and its tables: no HTML, link, mention, formula or row break; entities stand instead."""
    return one_line(text, limit).translate(_MARKDOWN).replace("www.", "www&#46;")


def for_xml(text: str) -> str:
    """Text whose every character XML 1.0 allows (section 2.2); mark-up is for the serialiser to escape."""
    return harmless(text)


def without_commands(text: str) -> str:
    """`text` in which no line is a workflow command: `::name::` at a line's start, `##[name]` anywhere in it."""
    return "\n".join(_LOG_COMMAND.sub("# #", _COMMAND.sub(r"\1: ", line)) for line in text.split("\n"))


def bounded(results: Results, prefixes: Iterable[str] = ()) -> Results:
    """`results` as every reporter may tell them: each text redacted and harmless, findings and evidence capped.

    `prefixes` are further prefixes of canaries than the default one. A verdict whose findings were cut says so in
    its reason. The first finding of each fingerprint goes before repeats, so that a flood hides no other kind.
    """
    known = tuple(dict.fromkeys((DEFAULT_PREFIX, *prefixes)))
    record = results.model_dump()
    _drop(record["verdicts"])
    # cut before as well: a run with a gigabyte of evidence is not to be read through for the part that is kept
    record = _each(record, lambda text: _cut(redacted(_cut(text, MAX_EVIDENCE), known), MAX_EVIDENCE))
    for verdict in record["verdicts"]:
        for finding in verdict["findings"]:
            finding["evidence"] = _within(finding["evidence"])
    return Results.model_validate(record)


def _drop(verdicts: list[dict[str, Any]]) -> None:
    """Keep the findings that may stay, and of each as much evidence as fits."""
    kept = _kept(verdicts)
    for number, verdict in enumerate(verdicts):
        findings = verdict["findings"]
        verdict["findings"] = [finding for place, finding in enumerate(findings) if (number, place) in kept]
        for finding in verdict["findings"]:
            finding["evidence"] = _within(finding["evidence"])
        if dropped := len(findings) - len(verdict["findings"]):
            told = f"{dropped} more findings are not listed"
            verdict["reason"] = f"{verdict['reason']}; {told}" if verdict["reason"] else told


def _kept(verdicts: list[dict[str, Any]]) -> set[tuple[int, int]]:
    """Which findings stay, as verdict number and place in it."""
    kinds: set[str] = set()
    firsts: list[tuple[int, int]] = []
    repeats: list[tuple[int, int]] = []
    for number, verdict in enumerate(verdicts):
        for place, finding in enumerate(verdict["findings"]):
            (repeats if finding["fingerprint"] in kinds else firsts).append((number, place))
            kinds.add(finding["fingerprint"])
    return set((firsts + repeats)[:MAX_FINDINGS])


def _within(evidence: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As much evidence as fits; of the first piece always something, its texts cut."""
    room = MAX_EVIDENCE
    kept: list[dict[str, Any]] = []
    for piece in evidence:
        if not kept and _size(piece) > room:
            piece = _each(piece, lambda text: _cut(text, MAX_EVIDENCE // 8))
            piece["decoded"] = piece["decoded"][:1]
        room -= _size(piece)
        if room < 0:
            break
        kept.append(piece)
    return kept


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with every text in it changed, keys left alone."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _each(item, change) for key, item in value.items()}
    return value


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, list | dict):
        return sum(map(_size, value.values() if isinstance(value, dict) else value))
    return 0


def _cut(text: str, most: int) -> str:
    """`text` in at most so many bytes of UTF-8, and the mark of the cut."""
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= most else raw[: most - 3].decode(errors="ignore") + "…"
