"""Fault: one way in which a model provider misbehaves, written once for every API, whole or streamed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .codec import Codec
from .document import Document
from .frames import Frames
from .turn import Prompt, Turn

Kind = Literal["none", "transport", "envelope", "text", "tool", "stream"]


@dataclass(frozen=True, slots=True)
class Case:
    """The call a fault strikes; `dice` are 32 bytes drawn for (seed, scope, call index)."""

    prompt: Prompt
    codec: Codec
    dice: bytes

    @property
    def mark(self) -> str:
        """A word for what the faulty model says: it stands in no other text, so wherever it turns up, this did."""
        return "flt" + self.dice.hex()[:13]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is changed, at each of three levels; a level left None stays as it is.

    `turn` changes what the model says, `document` the HTTP answer before framing, `frames` the bytes and what
    is done to the connection. They run in this order on one call.
    """

    id: str
    title: str
    kind: Kind
    turn: Callable[[Turn, Case], Turn] | None = None
    document: Callable[[Document, Case], Document] | None = None
    frames: Callable[[tuple[bytes, ...], Case], Frames] | None = None
