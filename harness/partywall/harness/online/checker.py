"""Checker: attribute, tier 1 on everything, tier 2 on hits and a sample, the judge, findings."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from partywall.canaries import DEFAULT_PREFIX, Keyring, Level, Mint, Opened, Scan, Scanner, Scope, UsageError

from ..plan.channel import Channel
from ..plan.identity import RawPath
from .evidence import Evidence
from .hashing import Hashes
from .hearing import Heard, Hearing
from .imports import Imports
from .record import Passed, Record, levels_named
from .sample import DEFAULT_RATE, Budget, Sample
from .tally import Tally

MOST_FINDINGS = 100
"""Findings told of one record; one that holds the canaries of more owners says that it was limited."""

_SEAM = b"\n"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a deployment is watched.

    `key` is the deployment key, `epochs` those of its canaries: current and previous. `rate` is the share of sessions
    looked at deeply, `budget` the share of a core which that may cost. `names` writes ids in the clear into findings,
    where keyed hashes stand otherwise.
    """

    key: bytes = field(repr=False)
    epochs: tuple[str, ...] = ("0",)
    prefix: str = DEFAULT_PREFIX
    rate: float = DEFAULT_RATE
    budget: float = 0.01
    names: bool = False


@dataclass(frozen=True, slots=True)
class _Hits:
    """What tier 1 saw in one record: genuine canaries with their raw spans, and marks that did not open."""

    opened: dict[str, Opened]
    spans: dict[str, list[tuple[int, int]]]
    damaged: int
    limited: bool


class Checker:
    """Checks what passed, batch by batch. Not safe from several threads.

    Raises UsageError where the key is short, no epoch is named, or a rate is none.
    """

    def __init__(
        self,
        settings: Settings,
        tap: str,
        imports: Sequence[str] = (),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if not settings.epochs:
            raise UsageError("no epoch is named, and without one no canary opens")
        self.settings = settings
        self.hashes = Hashes(settings.key)
        self.imports = Imports(self.hashes, imports)
        self.tap = tap
        self._keyrings = [Keyring.derive(settings.key, epoch) for epoch in settings.epochs]
        self._scanner = Scanner(self._keyrings, level="S1", prefix=settings.prefix)
        self._hearing = Hearing(self._keyrings, settings.prefix, tap)
        self._evidence = Evidence(self.hashes, tap, settings.names, settings.prefix)
        self._sample = Sample(self.hashes, settings.rate)
        self._budget = Budget(settings.budget)
        self._clock = clock

    def check(self, batch: Sequence[Passed]) -> tuple[list[dict[str, Any]], Tally]:
        """The findings in a batch as JSON data, and its counts; nothing is counted before the caller says so.

        One scan goes over the whole batch: a scanner's pass costs more to begin than a short record to read.
        """
        tally = Tally()
        found: list[dict[str, Any]] = []
        started = self._clock()
        hits = self._tier_1(batch)
        each = (self._clock() - started) / max(len(batch), 1)
        for passed, hit in zip(batch, hits, strict=True):
            begun = self._clock()
            found += self._one(passed, hit, tally)
            tally.took(each + self._clock() - begun)
        return found, tally

    def selftest(self) -> bool:
        """Whether a leak planted into the real path, in a record of nobody that exists, is found as what it is."""
        owner, viewer = Scope("partywall-selftest-a", "u", "s"), ("partywall-selftest-b", "u", "s", None)
        token = Mint(self._keyrings[0], self.settings.prefix).token(owner)
        text = f"the booking reference is {token}"
        record = _Planted(viewer, text)
        found, _ = self.check([Passed((text.encode(),), record, source="selftest")])
        return [one["code"] for one in found] == ["PW101"]

    def _tier_1(self, batch: Sequence[Passed]) -> list[_Hits]:
        raws = [_SEAM.join(passed.raw) for passed in batch]
        scan = self._scanner.scan(_SEAM.join(raws))
        if scan.damaged or scan.limited:
            # a scan only counts what did not open: to know whose it is, each is read for itself
            return [_hits(self._scanner.scan(raw)) for raw in raws]
        hits = [_Hits({}, {}, 0, False) for _ in batch]
        at, place = 0, 0
        for sighting in scan.sightings:
            while sighting.start >= at + len(raws[place]) + len(_SEAM):
                at += len(raws[place]) + len(_SEAM)
                place += 1
            token = sighting.opened.token
            hits[place].opened[token] = sighting.opened
            hits[place].spans.setdefault(token, []).append((sighting.start - at, sighting.end - at))
        return hits

    def _one(self, passed: Passed, hits: _Hits, tally: Tally) -> list[dict[str, Any]]:
        tally.seen += not passed.rest
        tally.checked["1"] += not passed.rest
        tally.limited += hits.limited
        record = passed.record
        levels = levels_named(record.viewer) if record is not None else frozenset()
        if record is None or not levels:
            if not passed.rest:
                tally.skipped[passed.reason or "unattributed"] += 1
            tally.canaries["damaged"] += hits.damaged
            tally.lost += bool(hits.opened)
            return []
        tally.attributed += 1
        if passed.reason:
            tally.skipped[passed.reason] += 1
        opened = hits.opened.values()
        suspect = any(self._hearing.crossed(one, record.viewer, levels) is not None for one in opened)
        if not suspect and not self._looked_at(passed, record, hits, tally):
            if opened or hits.damaged:
                tally.canaries.update(own=len(opened), damaged=hits.damaged)
            return []
        begun = self._clock()
        try:
            return self._tier_2(passed, record, levels, hits, tally)
        except RecursionError:
            tally.skipped["too_deep"] += 1
            tally.lost += bool(hits.opened)
            return []
        finally:
            self._budget.spend(self._clock() - begun)

    def _looked_at(self, passed: Passed, record: Record, hits: _Hits, tally: Tally) -> bool:
        """Whether a record without a suspect is looked at deeply: sampled, of a stratum, or with a damaged mark, which
        may be whole for a deeper level."""
        name = record.sampled_by
        wanted = bool(record.stratum or hits.damaged)
        if not wanted and self.settings.rate:
            wanted = self._sample.takes(name or self.hashes.name(*passed.raw))
        if wanted and not self._budget.allows():
            tally.skipped["budget"] += 1
            return False
        return wanted

    def _tier_2(
        self, passed: Passed, record: Record, levels: frozenset[Level], hits: _Hits, tally: Tally
    ) -> list[dict[str, Any]]:
        viewer = record.viewer
        remembered = [token for token in hits.opened if self.imports.holds(token, viewer)]
        own, shown = [*record.own(), *remembered], list(record.shown())
        trace = self._evidence.trace(record.trace) or f"@{passed.offset}"
        heard = self._hearing.hear(viewer, levels, own, shown, trace)
        if late := [token for token in heard.foreign if self.imports.holds(token, viewer)]:
            # put in earlier, and shown now in a dress that tier 1 does not see through
            heard = self._hearing.hear(viewer, levels, [*own, *late], shown, trace)
        for token in heard.imported:
            self.imports.add(token, viewer)
        tally.sampled += 1
        tally.checked["2"] += 1
        tally.limited += heard.limited or len(heard.crossed) > MOST_FINDINGS
        # a name that stands twice in an object: the parser kept one of its values, the bytes hold both
        tally.lost += bool(hits.opened.keys() - heard.tokens)
        tally.canaries.update(own=len(heard.own), imported=len(heard.imported), foreign=len(heard.foreign))
        if not heard.tokens:
            tally.canaries["damaged"] += hits.damaged
        return [self._told(passed, record, hits, heard, place, tally) for place in range(len(heard.crossed))][
            :MOST_FINDINGS
        ]

    def _told(
        self, passed: Passed, record: Record, hits: _Hits, heard: Heard, place: int, tally: Tally
    ) -> dict[str, Any]:
        group = heard.crossed[place]
        finding = self._hearing.tell(group, self._evidence.path(record.viewer))
        tally.violations[finding.code] += 1
        spans = [span for token in {sight.opened.token for sight in group} for span in hits.spans.get(token, ())]
        return self._evidence.record(finding, group, record, passed, spans)


@dataclass(frozen=True, slots=True)
class _Planted:
    """The record of a self-test."""

    viewer: RawPath
    text: str
    trace: str = "selftest"
    sampled_by: str = "selftest"
    stratum: str = ""

    def own(self) -> Sequence[str]:
        return ()

    def shown(self) -> Sequence[tuple[str, str]]:
        return ((Channel.REPLY, self.text),)


def _hits(scan: Scan) -> _Hits:
    hits = _Hits({}, {}, scan.damaged, scan.limited)
    for sighting in scan.sightings:
        hits.opened[sighting.opened.token] = sighting.opened
        hits.spans.setdefault(sighting.opened.token, []).append((sighting.start, sighting.end))
    return hits
