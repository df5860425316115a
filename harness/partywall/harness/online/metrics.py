"""Metrics: a tally as Prometheus shows it, read when it is scraped; never with a tenant, user or session as a label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from ..judge.assurance import anytime_upper
from .tally import KINDS, REASONS, SECONDS, Tally

CODES = ("PW101", "PW102", "PW103", "PW104")
CONFIDENCE = 0.95


class Watched(Protocol):
    """What has metrics to show."""

    @property
    def total(self) -> Tally: ...


class Metrics:
    """Shows one tap. Every label pair is there from the start, at 0: else `increase` does not see its first hit.

    `queued` gives the length of a queue, `enabled` whether anything is looked at.
    """

    def __init__(
        self,
        tap: str,
        watched: Watched,
        queued: Callable[[], int] = lambda: 0,
        enabled: Callable[[], bool] = lambda: True,
    ) -> None:
        self._tap = tap
        self._watched = watched
        self._queued = queued
        self._enabled = enabled

    def register(self, registry: CollectorRegistry) -> None:
        """Show them in `registry`."""
        registry.register(self)

    def describe(self) -> Iterable[Metric]:
        """The names, so that registering reads nothing."""
        return _families(self._tap, Tally(), 0, True)

    def collect(self) -> Iterable[Metric]:
        """The values now."""
        return _families(self._tap, self._watched.total, self._queued(), self._enabled())


def leak_rate_upper(tally: Tally) -> float:
    """The rate of leaking responses that what was seen excludes, however often one looks; 1 while no canary flowed.

    A statement on content that carries a canary and on the dresses that tier 1 sees through, of responses whose viewer
    is known.
    """
    if not tally.flowed:
        return 1.0
    n = tally.attributed
    return anytime_upper(min(sum(tally.violations.values()), n), n, CONFIDENCE)


def _families(tap: str, tally: Tally, queued: int, enabled: bool) -> Iterator[Metric]:
    yield _counter("partywall_responses_seen", "Responses and records that passed.", {(tap,): tally.seen}, "tap")
    tiers = {(tap, tier): tally.checked[tier] for tier in ("1", "2")}
    yield _counter("partywall_checked", "Checked, by tier: 1 scanned, 2 judged deeply.", tiers, "tap", "tier")
    skipped = {(tap, reason): tally.skipped[reason] for reason in REASONS}
    yield _counter("partywall_skipped", "Not judged, or not deeply, by reason.", skipped, "tap", "reason")
    violations = {(code, tap): tally.violations[code] for code in CODES}
    yield _counter("partywall_violations", "Findings stored, by code.", violations, "code", "tap")
    kinds = {(tap, kind): tally.canaries[kind] for kind in KINDS}
    yield _counter("partywall_canaries_seen", "Canaries seen, by what they are to the viewer.", kinds, "tap", "kind")
    yield _counter("partywall_checker_errors", "Checks that failed.", {(tap,): tally.errors}, "tap")
    yield _counter(
        "partywall_canaries_unattributed", "Records with a canary, and nobody's.", {(tap,): tally.lost}, "tap"
    )
    duration = HistogramMetricFamily("partywall_check_duration_seconds", "Time a check took.", labels=["tap"])
    duration.add_metric([tap], _buckets(tally.durations), tally.seconds)
    yield duration
    yield _gauge("partywall_queue_depth", "Copies that wait to be checked.", tap, queued)
    yield _gauge("partywall_enabled", "1 while copies are taken and checked.", tap, float(enabled))
    share = tally.sampled / tally.attributed if tally.attributed else 0.0
    yield _gauge("partywall_effective_sample_ratio", "Share of responses judged deeply.", tap, share)
    tested = "When a planted leak was last found; 0 if the last one was not."
    yield _gauge("partywall_last_selftest_success_timestamp_seconds", tested, tap, tally.selftest_at)
    upper = GaugeMetricFamily(
        "partywall_leak_rate_upper_bound",
        "Anytime-valid bound; 1 while no canary flowed.",
        labels=["tap", "confidence"],
    )
    upper.add_metric([tap, str(CONFIDENCE)], leak_rate_upper(tally))
    yield upper
    build = GaugeMetricFamily("partywall_build_info", "The version that runs.", labels=["tap", "version"])
    build.add_metric([tap, _version()], 1)
    yield build


def _counter(name: str, told: str, values: Mapping[Any, int], *labels: str) -> Metric:
    family = CounterMetricFamily(name, told, labels=list(labels))
    for key, value in values.items():
        family.add_metric(list(key), value)
    return family


def _gauge(name: str, told: str, tap: str, value: float) -> Metric:
    family = GaugeMetricFamily(name, told, labels=["tap"])
    family.add_metric([tap], value)
    return family


def _buckets(durations: list[int]) -> list[tuple[str, float]]:
    below, found = 0, []
    for bound, count in zip((*map(str, SECONDS), "+Inf"), durations, strict=True):
        below += count
        found.append((bound, float(below)))
    return found


def _version() -> str:
    try:
        return version("partywall")
    except PackageNotFoundError:
        return "unknown"
