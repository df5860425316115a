"""Resolve: from what stands after `--target` to the kind of target that understands it."""

from __future__ import annotations

import difflib

from ..errors import UsageError
from ..registry import discover
from .target import TargetKind

_LAST_RESORT = "function"
"""Claims any `package.module:factory`, so it is asked when no other kind knows the name."""


def kinds() -> dict[str, TargetKind]:
    """All known kinds of target by id."""
    return discover("partywall.harness.drive.targets", "TARGET", "partywall.targets")


def kind_of(spec: str) -> TargetKind:
    """The kind that claims `spec`; UsageError naming the known ones where none does."""
    known = kinds()
    for kind in sorted(known.values(), key=lambda kind: kind.id == _LAST_RESORT):
        if kind.claims(spec):
            return kind
    names = sorted(name for name in known if name != _LAST_RESORT)
    near = difflib.get_close_matches(spec, names, n=1)
    guess = f" (did you mean {near[0]!r}?)" if near else ""
    raise UsageError(f"no target {spec!r}; known: {', '.join(names)}, or package.module:factory{guess}")
