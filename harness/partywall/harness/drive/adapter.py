"""Shipped adapters: libraries that know one key, with the four dimensions folded into it or left out of it."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Callable, Sequence
from typing import Any

from partywall.canaries import Scope

from ..errors import UsageError
from .target import TargetKind, TargetSettings
from .targets.function import FunctionTarget

SessionKey = Callable[[Scope], str]
"""How an adapter names a session to a library whose only key is one string."""


def folded(scope: Scope) -> str:
    """Tenant, user and session as a JSON list: no id, whatever is in it, can shift a boundary between two others."""
    return json.dumps([scope.tenant, scope.user, scope.session])


def bare(scope: Scope) -> str:
    """The session id alone, as most quick starts do: two owners who choose it alike share the session."""
    return scope.session


_KEYS: dict[str, SessionKey] = {"": folded, "bare": bare}


def library(id: str, summary: str, extra: str, modules: Sequence[str], make: Callable[[SessionKey], Any]) -> TargetKind:
    """A kind of target for an installed library: `id` folds the scope into the session key, `id:bare` does not.

    `make(key)` gives the adapter; `modules` must be importable, else a UsageError names the extra to install.
    """

    async def open_library(spec: str, settings: TargetSettings) -> FunctionTarget:
        name, _, variant = spec.partition(":")
        if variant not in _KEYS:
            raise UsageError(f"target {spec!r}: no variant {variant!r}; known: {name}, {name}:bare")
        try:
            # here and not at the first call: importing a large library would eat that call's deadline
            for name in modules:
                await asyncio.to_thread(importlib.import_module, name)
        except ImportError as error:
            raise UsageError(
                f"target {spec!r} needs the extra {extra!r}: pip install 'partywall[{extra}]' ({error})"
            ) from error
        return FunctionTarget(make(_KEYS[variant]), spec)

    return TargetKind(id, summary, lambda spec: spec.partition(":")[0] == id, open_library)
