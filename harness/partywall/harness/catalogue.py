"""Catalogue: what every finding code means. Codes are public API, stable from 0.1."""

from __future__ import annotations

from collections.abc import Mapping

from .codes import (
    concurrency,
    erasure,
    facts,
    isolation,
    keying,
    layers,
    lifecycle,
    operation,
    resilience,
    secrecy,
)
from .codes.code import Code
from .errors import unknown

CODES: Mapping[str, Code] = {
    code.id: code
    for table in (isolation, concurrency, lifecycle, facts, layers, erasure, secrecy, resilience, keying, operation)
    for code in table.CODES
}


def code(name: str) -> Code:
    """The code of that name, any case; UsageError naming the known ones otherwise."""
    if name.upper() not in CODES:
        raise unknown("finding code", name, CODES)
    return CODES[name.upper()]


__all__ = ["CODES", "Code", "code"]
