"""Classes of outcome: what a status says about whether a call was applied."""

from __future__ import annotations

from dataclasses import dataclass

from ...observe.outcome import Status

_FAIL = {
    400: "invalid",
    401: "denied",
    403: "denied",
    404: "not_found",
    409: "conflict",
    410: "expired",
    422: "invalid",
    423: "conflict",
    429: "limited",
}
"""Surely not applied, and why. Every other status but 2xx says nothing sure: a proxy may have cut the answer of a
request that went through."""


@dataclass(frozen=True, slots=True)
class Classes:
    """What a profile says beside the usual: statuses that count as ok instead of 2xx, that surely were not applied,
    and of which nobody knows."""

    ok: frozenset[int] = frozenset()
    fail: frozenset[int] = frozenset()
    info: frozenset[int] = frozenset()

    def of(self, status: int) -> tuple[Status, str]:
        """The class of an HTTP status, and the code of a refusal."""
        if status in self.info:
            return "info", f"http_{status}"
        if status in self.ok:
            return "ok", ""
        if status in self.fail:
            return "fail", _FAIL.get(status, "invalid")
        if 200 <= status < 300 and not self.ok:
            return "ok", ""
        return ("fail", _FAIL[status]) if status in _FAIL else ("info", f"http_{status}")
