"""Evidence: what a finding says of what was seen, without holding any of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from partywall.canaries import Level, redact_tokens

from ..judge.provenance import Sight
from ..judge.verdict import Finding
from ..plan.identity import RawPath
from .hashing import Hashes
from .record import Passed, Record

VERSION = 1
MOST_SPANS = 20
_LONGEST_ID = 128
_TRACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=-]{0,127}")


class Evidence:
    """Makes the JSON data of findings: code, short ids, keyed hashes, offsets, lengths, the trace; never a text.

    Ids are hashed, unless `names` has them written, cut to 128 characters. A trace that is no plain id is hashed too:
    whoever sends it chooses it, and could write anything into it.
    """

    def __init__(self, hashes: Hashes, tap: str, names: bool, prefix: str) -> None:
        self._hashes = hashes
        self._tap = tap
        self._names = names
        self._prefix = prefix

    def trace(self, trace: str) -> str:
        """The trace as findings name it."""
        plain = _TRACE.fullmatch(trace) and redact_tokens(trace, self._prefix) == trace
        return trace if plain or not trace else self._hashes.name("trace", trace)

    def path(self, viewer: RawPath) -> RawPath:
        """The viewer as claims name it; None becomes the empty id, which nobody is."""
        told = [self._id(viewer, level) for level in Level]
        return (told[0], told[1], told[2], told[3])

    def record(
        self,
        finding: Finding,
        group: Sequence[Sight],
        record: Record,
        passed: Passed,
        spans: Sequence[tuple[int, int]],
    ) -> dict[str, Any]:
        """A finding as JSON data. `id` is the same whenever the same bytes are read again at the same place."""
        opened = group[0].opened
        owner = self._hashes.name("owner", opened.epoch, *(str(number) for number in opened.digests))
        viewer = record.viewer
        return {
            "version": VERSION,
            "id": self._hashes.name("finding", passed.source, str(passed.offset), owner, *passed.raw),
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "code": finding.code,
            "guarantee": finding.guarantee.value,
            "boundary": finding.boundary,
            "claim": finding.claim,
            "tap": self._tap,
            "channel": finding.channel,
            "carrier": finding.carrier,
            "fingerprint": finding.fingerprint,
            "canaries": sorted({sight.opened.short for sight in group})[:MOST_SPANS],
            "kind": opened.kind,
            "epoch": opened.epoch,
            "owner": owner,
            "observer": {level.label: self._id(viewer, level) for level in Level if viewer[level - 1] is not None},
            "trace": self.trace(record.trace),
            "offset": passed.offset,
            "length": sum(map(len, passed.raw)),
            "spans": [list(span) for span in sorted(spans)[:MOST_SPANS]],
            "sightings": len(group),
        }

    def _id(self, viewer: RawPath, level: Level) -> str:
        value = viewer[level - 1]
        if not value:
            return ""
        if self._names:
            return redact_tokens(value.encode("utf-8", "replace").decode(), self._prefix)[:_LONGEST_ID]
        # over the path: one user name in two tenants is two users
        return self._hashes.name(level.label, *viewer[:level])
