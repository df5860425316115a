"""The deterministic model: it recalls what its prompt holds, and nothing else.

A text reply has up to three parts; every line quoted stands verbatim after `> `:

    You asked:            the lines of the last user message
    The tools answered:   the lines of the tool results that came after it, if any
    I was given:          every other line of the prompt, in order: system, context, history, old tool results

so a context that leaked into the prompt leaks into the reply as well. A line is quoted once, and a line of an
earlier reply is quoted without that reply's marks, so that a conversation grows by what is new in it. At most
`MOST` characters are quoted; what is left out is counted in a last line.

A tool is called where the last message is the user's and says `use tool NAME {json}`, once per occurrence,
if NAME is on offer; the JSON is passed on as it stands, `{}` where there is none. A forced `tool_choice`
calls its tool, `required` the first on offer, `none` never any. With tool results as the last messages the
reply is text again.

Ids are drawn from (seed, scope, body): the same seed and prompt in a scope give the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from .turn import Message, Prompt, ToolCall, Turn, Usage

MOST = 64 * 1024
"""Characters quoted at most in one reply."""

_ASKED, _TOOLS, _GIVEN = "You asked:", "The tools answered:", "I was given:"
_HEADINGS = {_ASKED, _TOOLS, _GIVEN, ""}
_USE = re.compile(r"\buse tool ([\w.:/-]+)[ \t]*", re.IGNORECASE)
_decoder = json.JSONDecoder()


def reply(prompt: Prompt, dice: bytes) -> Turn:
    """The turn that answers `prompt`; `dice` are the 32 bytes drawn for this scope and body."""
    ids = dice.hex()
    question, results, given = _parts(prompt.messages)
    calls: tuple[ToolCall, ...] = ()
    if prompt.tools and prompt.tool_choice != "none" and not results:
        calls = _calls(prompt, question, ids)
    text = None if calls else _recall(question, results, given)
    asked = sum([len(message.text) for message in prompt.messages])
    said = len(text) if text is not None else sum(len(call.arguments) for call in calls)
    return Turn(
        id="chatcmpl-" + ids[:24],
        request_id="req_" + ids[24:56],
        model=prompt.model,
        text=text,
        tool_calls=calls,
        refusal=None,
        finish="tool_calls" if calls else "stop",
        usage=Usage(asked // 4 + 1, said // 4 + 1),
    )


def _parts(messages: tuple[Message, ...]) -> tuple[str, list[str], list[str]]:
    """(the last user text, tool results after it, every other text in order)."""
    last = len(messages) - 1
    while last >= 0 and messages[last].role != "user":
        last -= 1
    question = messages[last].text if last >= 0 else ""
    results: list[str] = []
    given: list[str] = []
    for at, message in enumerate(messages):
        if at == last:
            continue
        trailing = at > last and message.role in ("tool", "function")
        (results if trailing else given).append(message.text)
    return question, results, given


def _recall(question: str, results: list[str], given: list[str]) -> str:
    quoted: dict[str, None] = {}
    parts = [(_ASKED, _fresh([question], quoted))]
    if results:
        parts.append((_TOOLS, _fresh(results, quoted)))
    parts.append((_GIVEN, _fresh(given, quoted)))
    said: list[str] = []
    room, missing = MOST, 0
    for heading, lines in parts:
        if lines:
            said.append(heading)
        for line in lines:
            if len(line) > room:
                missing += len(line) - room
                line = line[:room]
            room -= len(line)
            if line:
                said.append("> " + line)
    if missing:
        said.append(f"and {missing} characters more.")
    return "\n".join(said) or "You said nothing."


def _fresh(texts: Iterable[str], quoted: dict[str, None]) -> list[str]:
    """The lines not quoted yet, without the marks of earlier replies; they are noted in `quoted`."""
    lines = []
    for text in texts:
        for line in text.split("\n"):
            while line.startswith("> "):
                line = line[2:]
            if line not in quoted and line not in _HEADINGS:
                quoted[line] = None
                lines.append(line)
    return lines


def _calls(prompt: Prompt, question: str, ids: str) -> tuple[ToolCall, ...]:
    wanted = [(found[1], _arguments(question, found.end())) for found in _USE.finditer(question)]
    wanted = [(name, arguments) for name, arguments in wanted if name in prompt.tools]
    if prompt.forced:
        wanted = [use for use in wanted if use[0] == prompt.forced] or [(prompt.forced, "{}")]
    elif not wanted and prompt.tool_choice == "required":
        wanted = [(prompt.tools[0], "{}")]
    return tuple(ToolCall(f"call_{ids[:22]}{at:02d}", name, arguments) for at, (name, arguments) in enumerate(wanted))


def _arguments(text: str, at: int) -> str:
    """The JSON object that starts at `at`, as it was written; `{}` where none starts there."""
    if not text.startswith("{", at):
        return "{}"
    try:
        return text[at : _decoder.raw_decode(text, at)[1]]
    except (ValueError, RecursionError):
        return "{}"
