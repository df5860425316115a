"""Keys built by hand, found in source text: each goes past the scope object that should have made it."""

from .check import Checked, Unread, check_source
from .finding import RULES, Finding
from .formats import FORMATS
from .settings import Settings, settings_for
from .tree import Report, check_paths

__all__ = [
    "FORMATS",
    "RULES",
    "Checked",
    "Finding",
    "Report",
    "Settings",
    "Unread",
    "check_paths",
    "check_source",
    "settings_for",
]
