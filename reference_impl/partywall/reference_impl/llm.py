"""The model client: one OpenAI-style chat completion, bounded in time, attempts and bytes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from .guard import holds_secret, is_data
from .session_context import SessionContext

LARGEST_REPLY = 1_000_000
_RETRYABLE = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_LONGEST_WAIT = 2.0
# Control characters and overrides change how a log or a terminal reads; a lone surrogate is no text.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class ModelFailure(Exception):
    """The model gave no answer that may be shown or stored; `kind` is the guidance type."""

    kind = "model_unavailable"


class ModelOutputInvalid(ModelFailure):
    """The model answered, with something that is no whole answer."""

    kind = "model_output_invalid"


class _Retry(ModelFailure):
    def __init__(self, reason: str, wait: float) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Where the model is, and what a call may cost (seconds, attempts)."""

    base_url: str
    model: str = "reference"
    api_key: str | None = None
    timeout: float = 10.0
    deadline: float = 20.0
    retries: int = 2
    backoff: float = 0.05


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool that the model may ask for, with the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]

    def record(self) -> dict[str, Any]:
        """The offer as the API takes it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model wants done; `arguments` is its text, which may be no JSON at all."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Said:
    """One whole answer: words, or tool calls."""

    text: str
    calls: tuple[ToolCall, ...] = ()


class ChatModel:
    """Calls `{base_url}/chat/completions`."""

    def __init__(self, settings: ModelSettings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        headers = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._client = httpx.AsyncClient(
            timeout=settings.timeout, headers=headers, transport=transport, trust_env=False
        )

    async def chat(self, context: SessionContext) -> str:
        """The model's answer in words, without control characters.

        Raises ModelFailure where it could not be had within the deadline and the retries, ModelOutputInvalid
        where it was cut, refused, filtered, empty, data, a tool call, no completion at all, or held a credential.
        """
        return (await self.say(context)).text

    async def say(self, context: SessionContext, offered: Sequence[Offer] = ()) -> Said:
        """The same with tools on offer: words, or the calls of tools that the model wants made, unchecked."""
        body = {"model": self._settings.model, "messages": context.messages(), "stream": False}
        if offered:
            body["tools"] = [offer.record() for offer in offered]
        try:
            # The read time-out alone would let a drip of bytes go on for ever.
            async with asyncio.timeout(self._settings.deadline):
                return await self._attempts(body)
        except TimeoutError:
            raise ModelFailure("deadline") from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _attempts(self, body: dict[str, Any]) -> Said:
        for attempt in range(self._settings.retries + 1):
            try:
                return _said(await self._post(body), "tools" in body)
            except _Retry as failed:
                if attempt == self._settings.retries:
                    raise ModelFailure(str(failed)) from None
                await asyncio.sleep(failed.wait or self._settings.backoff * 2**attempt)
        raise AssertionError("unreachable")

    async def _post(self, body: dict[str, Any]) -> bytes:
        url = self._settings.base_url.rstrip("/") + "/chat/completions"
        try:
            async with self._client.stream("POST", url, json=body) as response:
                if response.status_code in _RETRYABLE:
                    raise _Retry(f"status {response.status_code}", _wait(response))
                if response.status_code != 200:
                    raise ModelFailure(f"status {response.status_code}")
                raw = bytearray()
                async for piece in response.aiter_bytes():
                    raw += piece
                    if len(raw) > LARGEST_REPLY:
                        raise ModelOutputInvalid("reply too large")
                return bytes(raw)
        except httpx.HTTPError as error:
            raise _Retry(type(error).__name__, 0.0) from None
        except httpx.InvalidURL:
            raise ModelFailure("invalid url") from None


def _wait(response: httpx.Response) -> float:
    try:
        return min(max(float(response.headers.get("retry-after", "0")), 0.0), _LONGEST_WAIT)
    except ValueError:
        return 0.0


def _said(raw: bytes, offered: bool) -> Said:
    try:
        choice = json.loads(raw)["choices"][0]
        message, finish = choice["message"], choice["finish_reason"]
        content, refusal, tools = message.get("content"), message.get("refusal"), message.get("tool_calls")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise ModelOutputInvalid("no completion") from None
    # Only a finish that says "whole" is believed: cut, filtered or unknown is no answer.
    if finish == "tool_calls" and tools and offered and not refusal:
        return Said("", _calls(tools))
    if finish != "stop" or refusal or tools or not isinstance(content, str):
        raise ModelOutputInvalid("no whole answer")
    clean = _UNPRINTABLE.sub("", content)
    if not clean.strip():
        raise ModelOutputInvalid("empty answer")
    if is_data(clean):
        raise ModelOutputInvalid("data where words were wanted")
    if holds_secret(clean):
        raise ModelOutputInvalid("a credential in the answer")
    return Said(clean)


def _calls(tools: Any) -> tuple[ToolCall, ...]:
    try:
        calls = tuple(ToolCall(call["function"]["name"], call["function"]["arguments"]) for call in tools)
    except (KeyError, TypeError):
        raise ModelOutputInvalid("no whole tool call") from None
    if not all(isinstance(call.name, str) and isinstance(call.arguments, str) for call in calls):
        raise ModelOutputInvalid("no whole tool call")
    return calls
