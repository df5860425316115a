"""The append-log checker: one sweep over one session's appends and reads, not a search."""

from .model import INFINITY, NAMES, UNKNOWN, Append, Log, Order, Read, Violation, Violations
from .order import order_of
from .overlap import overlap
from .sweep import violations_of
from .witness import doubt

__all__ = [
    "INFINITY",
    "NAMES",
    "UNKNOWN",
    "Append",
    "Log",
    "Order",
    "Read",
    "Violation",
    "Violations",
    "doubt",
    "order_of",
    "overlap",
    "violations_of",
]
