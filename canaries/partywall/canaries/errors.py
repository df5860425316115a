"""The root of the error tree; it stands on the ground floor because scopes refuse bad ids there.

PartywallError
└─ UsageError      the caller's mistake: one sentence, exit code 2
   └─ ScopeError   an id that a scope needs is missing or no text
"""


class PartywallError(Exception):
    """Anything partywall raises on purpose."""


class UsageError(PartywallError):
    """The caller's mistake, told in one sentence."""


class ScopeError(UsageError, ValueError):
    """A scope lacks a dimension that the caller needs."""
