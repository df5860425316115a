"""The words of a text, as every full-text search of the reference takes them."""

from __future__ import annotations

import re


def words(text: str) -> list[str]:
    """The distinct words, in order; letters and digits only, so none is full-text syntax."""
    return list(dict.fromkeys(re.findall(r"[^\W_]+", text.casefold())))
