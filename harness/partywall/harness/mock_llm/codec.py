"""Codec: how one provider API reads a prompt and writes a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .document import JSON, Document, encode
from .turn import Prompt, Turn


@dataclass(frozen=True, slots=True)
class Codec:
    """One API. `routes` are paths below the base URL, without `/v1`.

    `read` raises PromptError where the body is no request of this API; unknown fields are no reason.
    `whole` and `stream` write the same turn as one body and as events; `error` writes a refusal of `status`.
    """

    id: str
    routes: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], Prompt]
    whole: Callable[[Turn], Document]
    stream: Callable[[Turn, Prompt], Document]
    error: Callable[[int, str, str], Document]


class PromptError(ValueError):
    """A body that this API would refuse with status 400; `param` names the field."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def openai_error(
    status: int, message: str, request_id: str, param: str | None = None, code: str | None = None
) -> Document:
    """An error in OpenAI's shape, which Chat Completions, Responses and embeddings share."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Document(status, JSON, encode(body).encode(), request_id)
