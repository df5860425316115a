"""The guard of what comes out of a model: shapes of credentials, and data where words are wanted."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"(?i)\bauthorization\s*:\s*\S|\b(?:bearer|basic)\s+[a-z0-9._~+/=-]{16,}|\bsk-[a-z0-9_-]{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_DATA = re.compile(r"\s*(?:```|~~~)?\s*(?:json\b)?\s*[{\[]", re.IGNORECASE)


def holds_secret(text: str) -> bool:
    """Whether a credential stands in a text, by its shape. The mere word "token" is none."""
    return _SECRET.search(text) is not None


def is_data(text: str) -> bool:
    """Whether a text begins as JSON, fenced or not. Data reaches this agent by tool calls alone, so an answer that
    is data, whole or broken, was meant for some other step: it is neither shown nor stored."""
    return _DATA.match(text) is not None
