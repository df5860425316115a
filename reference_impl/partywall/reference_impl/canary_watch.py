"""Looks through what was put together for one scope for the canaries of other sessions: any hit is an alert."""

from __future__ import annotations

from collections.abc import Sequence

from partywall.canaries import Scope

from .log import Log
from .marks import Marks
from .metrics import Metrics


class CanaryWatch:
    """Sees content carried verbatim, and none that was retold: it can refute isolation and never prove it."""

    def __init__(self, marks: Marks, metrics: Metrics, log: Log) -> None:
        self._marks = marks
        self._metrics = metrics
        self._log = log

    def look(self, scope: Scope, snippets: Sequence[str]) -> int:
        """Count and log the foreign canaries in a context; how many. The log names the viewer and no canary."""
        hits = self._marks.foreign(scope, snippets)
        if hits:
            self._metrics.canaries(hits)
            self._log.write("canary_hit", scope, hits=hits)
        return hits
