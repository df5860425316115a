"""Outcome: whether a call happened (`ok`), surely did not (`fail`), or nobody knows (`info`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["ok", "fail", "info"]

UNSENT = "unsent"
"""Code of a call that never left the driver: it says nothing about the target."""
TIMEOUT = "timeout"
"""Code of a call that was not answered in time: it may still be applied."""
NOT_IMPLEMENTED = "not_implemented"
"""Code of a call that met an operation which the target turned out not to have."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one call ended. `value` is plain JSON data; `reason` and `code` say why it did not end `ok`.

    The default is `info`: `fail` only where the target surely did not apply the call. A wrong `fail` would make
    an append that did happen look like a phantom.
    """

    status: Status = "info"
    value: Any = None
    reason: str = ""
    code: str = ""
