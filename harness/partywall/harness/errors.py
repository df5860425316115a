"""The error tree of the harness; its root stands in `partywall.canaries`.

PartywallError
├─ UsageError      the caller's mistake                                     exit 2
│  ├─ ScopeError     a missing dimension
│  ├─ ContractError  a plug-in broke its protocol; lists all problems at once
│  └─ HistoryError   a record no honest recorder could write; names the line
└─ TargetError     the target cannot be reached, started or opened          exit 3
   ├─ Unreachable    no connection, so nothing was sent; becomes `fail`, never leaves the driver
   └─ Refused        the target surely did not apply the call; becomes `fail`, never leaves the driver
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from partywall.canaries import PartywallError, ScopeError, UsageError

REFUSAL_CODES = frozenset({"denied", "not_found", "conflict", "expired", "invalid", "limited"})


class TargetError(PartywallError):
    """The target could not be opened, or is gone."""


class Unreachable(TargetError):
    """No connection to the target could be made, so that the call surely was not sent."""


class Refused(TargetError):
    """An adapter raises it where the call surely was not applied.

    `code` is one of denied, not_found, conflict, expired, invalid, limited; another code is a ContractError
    at the seam, so that a typing mistake does not turn an unknown outcome into a sure one.
    """

    reason: str = "refused"
    code: str = "denied"  # on the class too: a subclass may forget to call this __init__

    def __init__(self, reason: str = "refused", code: str = "denied") -> None:
        super().__init__(reason)
        self.reason = str(reason)
        self.code = code


class ContractError(UsageError):
    """A plug-in broke its protocol. `problems` holds one sentence each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


class HistoryError(UsageError):
    """A history that no honest recorder could have written; the message names the line."""


def unknown(kind: str, given: str, known: Iterable[str]) -> UsageError:
    """The error for a name that is not known: says what is, and the nearest guess."""
    names = sorted(map(str, known))
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    guess = f" (did you mean {near[0]!r}?)" if near else ""
    return UsageError(f"no {kind} {given!r}; known: {', '.join(names) or 'none'}{guess}")


__all__ = [
    "REFUSAL_CODES",
    "ContractError",
    "HistoryError",
    "PartywallError",
    "Refused",
    "ScopeError",
    "TargetError",
    "Unreachable",
    "UsageError",
    "unknown",
]
