"""Prompt and turn: what a model was asked and what it answers, before any API's shape is put on.

Named tuples, not dataclasses: under load several are made for each request, and a frozen dataclass takes five
times as long to make.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Finish = Literal["stop", "length", "tool_calls", "content_filter"]
ToolChoice = Literal["auto", "none", "required"]


class Message(NamedTuple):
    """One message of a prompt as plain text; `name` is the tool's name or call id on a tool result."""

    role: str
    text: str
    name: str = ""


class Prompt(NamedTuple):
    """A request's meaning: the messages, the tools on offer, and how the answer is wanted.

    `forced` names the one tool that must be called, empty where there is none.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    tool_choice: ToolChoice = "auto"
    forced: str = ""
    stream: bool = False
    include_usage: bool = False


class ToolCall(NamedTuple):
    """A call the model wants made; `arguments` is JSON text, kept as text because models break it."""

    id: str
    name: str
    arguments: str


class Usage(NamedTuple):
    """Token counts; ours are characters / 4, which is deterministic and about right."""

    prompt: int
    completion: int


class Turn(NamedTuple):
    """One answer of the model, the same for every API and for whole and streamed replies."""

    id: str
    request_id: str
    model: str
    text: str | None
    tool_calls: tuple[ToolCall, ...]
    refusal: str | None
    finish: Finish
    usage: Usage


def said(turn: Turn) -> str:
    """All that a turn says, tool calls as `name arguments`, a line each."""
    calls = [f"{call.name} {call.arguments}" for call in turn.tool_calls]
    return "\n".join([text for text in (turn.text, turn.refusal, *calls) if text])


def pieces(text: str, most: int = 64) -> list[str]:
    """`text` cut into the deltas of a stream: a word each, or as many words as keep it to `most` deltas.

    The deltas joined are the text, whitespace included.
    """
    words = text.split(" ")
    step = -(-len(words) // most)
    if step == 1:
        cut = [word + " " for word in words]
    else:
        cut = [" ".join(words[at : at + step]) + " " for at in range(0, len(words), step)]
    cut[-1] = cut[-1][:-1]
    return [piece for piece in cut if piece]
