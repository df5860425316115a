"""OpenAI Chat Completions: full documents, and streams in the order the provider sends them.

A stream is: role chunk, content chunks (or tool head and argument fragments), finish, the usage chunk with
empty `choices` where `stream_options.include_usage` asks for it, `[DONE]`.
Source: the OpenAI API reference, "Chat" and "Streaming".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..codec import Codec, PromptError, openai_error
from ..document import JSON, SSE, Document, encode, quoted
from ..turn import Message, Prompt, ToolCall, ToolChoice, Turn, pieces

# An answer is a text with holes: filling them takes a fifth of the time that encoding the whole would.
_SAME = '"created":1750000000,"service_tier":"default","system_fingerprint":"fp_partywall"'
_USAGE = (
    '{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,'
    '"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},'
    '"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}'
)
_WHOLE = (
    '{"id":"%s","object":"chat.completion",' + _SAME + ',"model":%s,"choices":[{"index":0,"message":'
    '{"role":"assistant","content":%s,"refusal":%s,"annotations":[]%s},"logprobs":null,"finish_reason":"%s"}],'
    '"usage":' + _USAGE + "}"
)
_CHUNK = 'data: {"id":"%s","object":"chat.completion.chunk",' + _SAME + ',"model":%s,"choices":'


def read(body: Mapping[str, Any]) -> Prompt:
    """The prompt of a chat request; PromptError where `messages` is missing or no list of objects."""
    if "messages" not in body:
        raise PromptError("Missing required parameter: 'messages'.", "messages")
    messages = body["messages"]
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise PromptError("Invalid type for 'messages': expected an array of objects.", "messages")
    options = body.get("stream_options")
    choice, forced = _choice(body.get("tool_choice"))
    return Prompt(
        model=str(body.get("model") or "mock"),
        messages=tuple([_message(message) for message in messages]),
        tools=_tools(body) if body.get("tools") or body.get("functions") else (),
        tool_choice=choice,
        forced=forced,
        stream=body.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
    )


def whole(turn: Turn) -> Document:
    """The turn as one `chat.completion`."""
    text, refusal, usage = turn.text, turn.refusal, turn.usage
    calls = f',"tool_calls":{encode([_call(call) for call in turn.tool_calls])}' if turn.tool_calls else ""
    body = _WHOLE % (
        turn.id,
        quoted(turn.model),
        "null" if text is None else quoted(text),
        "null" if refusal is None else quoted(refusal),
        calls,
        turn.finish,
        usage.prompt,
        usage.completion,
        usage.prompt + usage.completion,
    )
    return Document(200, JSON, body.encode(), turn.request_id)


def stream(turn: Turn, prompt: Prompt) -> Document:
    """The turn as `chat.completion.chunk` events."""
    # The chunks of a stream differ in their delta alone; the rest is written once.
    shared = _CHUNK % (turn.id, quoted(turn.model))
    before = shared + '[{"index":0,"delta":{'
    usage = ',"usage":null' if prompt.include_usage else ""
    after = '},"logprobs":null,"finish_reason":null}]' + usage + "}\n\n"
    events = [f"{before}{delta}{after}" for delta in _deltas(turn)]
    events.append(f'{before}}},"logprobs":null,"finish_reason":"{turn.finish}"}}]{usage}}}\n\n')
    if prompt.include_usage:
        asked, said = turn.usage
        events.append(f'{shared}[],"usage":{_USAGE % (asked, said, asked + said)}}}\n\n')
    events.append("data: [DONE]\n\n")
    return Document(200, SSE, b"", turn.request_id, tuple([event.encode() for event in events]))


CODEC = Codec("chat", ("/chat/completions",), read, whole, stream, openai_error)


def _deltas(turn: Turn) -> list[str]:
    """The inside of each delta, in order."""
    content = "null" if turn.text is None else '""'
    deltas = [f'"role":"assistant","content":{content},"refusal":null']
    if turn.text:
        deltas += ['"content":' + quoted(piece) for piece in pieces(turn.text)]
    if turn.refusal:
        deltas += ['"refusal":' + quoted(piece) for piece in pieces(turn.refusal)]
    for index, call in enumerate(turn.tool_calls):
        head = {"index": index, **_call(ToolCall(call.id, call.name, ""))}
        deltas.append(f'"tool_calls":[{encode(head)}]')
        for piece in pieces(call.arguments, 8):
            deltas.append(f'"tool_calls":[{{"index":{index},"function":{{"arguments":{quoted(piece)}}}}}]')
    return deltas


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _message(message: Mapping[str, Any]) -> Message:
    content = message.get("content")
    text = content if isinstance(content, str) else _text(content)
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        lines = [text] if text else []
        for call in calls:
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                lines.append(f"called {function.get('name')} {function.get('arguments')}")
        text = "\n".join(lines)
    name = message.get("name") or message.get("tool_call_id") or ""
    return Message(str(message.get("role", "")), text, str(name))


def _text(content: object) -> str:
    if not isinstance(content, list):
        return "" if content is None else encode(content)
    found = []
    for part in content:
        text = part.get("text", part.get("refusal")) if isinstance(part, dict) else part
        if isinstance(text, str):
            found.append(text)
    return "\n".join(found)


def _tools(body: Mapping[str, Any]) -> tuple[str, ...]:
    names = []
    for tool in [*_objects(body.get("tools")), *_objects(body.get("functions"))]:
        function = tool.get("function", tool)
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str):
            names.append(name)
    return tuple(names)


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _choice(choice: object) -> tuple[ToolChoice, str]:
    if choice == "none":
        return "none", ""
    if choice == "required":
        return "required", ""
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else choice.get("name")
        if isinstance(name, str):
            return "auto", name
    return "auto", ""
