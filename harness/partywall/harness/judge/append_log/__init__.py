"""The append-log checker: one sweep over one session's appends and reads, not a search."""

from .model import INFINITY, NAMES, Append, Log, Order, Read, Violation, log_of
from .overlap import overlap
from .sessions import Session, sessions_of
from .sweep import violations_of
from .witness import doubt
from .words import told

__all__ = [
    "INFINITY",
    "NAMES",
    "Append",
    "Log",
    "Order",
    "Read",
    "Session",
    "Violation",
    "doubt",
    "log_of",
    "overlap",
    "sessions_of",
    "told",
    "violations_of",
]
