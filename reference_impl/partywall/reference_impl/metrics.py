"""The metrics, by the names that alerts and dashboards use; an operator's view."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric

from .layers import Layer

SESSIONS = "partywall_sessions"
TURNS = "partywall_turns_per_session"
CAS_COMMITS = "partywall_cas_commits"
DEDUP = "partywall_request_dedup"
CANARY_HITS = "partywall_canary_hits"
MISSING_DIMENSION = "partywall_missing_dimension"
LAYER_WRITES = "partywall_layer_writes"
SUPERSESSIONS = "partywall_fact_supersessions"
TENANT_SESSIONS = "partywall_tenant_sessions"
TENANT_BYTES = "partywall_tenant_bytes"
TURNS_TAKEN = "partywall_turns_taken_away"
DIMENSIONS = ("tenant", "user", "session", "task")
_BUCKETS = (1, 2, 5, 10, 20, 50, 100, 150, 180, 200, 500)


@dataclass(frozen=True, slots=True)
class Census:
    """What a deployment holds now: (tenant, state, turns stored) of each session, and bytes by tenant."""

    sessions: Sequence[tuple[str, str, int]] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)


class Metrics:
    """Counts of one deployment, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = made = CollectorRegistry()
        self._cas = Counter(CAS_COMMITS, "Commits by outcome.", ["outcome"], registry=made)
        self._dedup = Counter(DEDUP, "Requests with an id, by what sent them.", ["source", "outcome"], registry=made)
        self._canaries = Counter(CANARY_HITS, "Foreign canaries seen; must stay zero.", registry=made)
        self._missing = Counter(MISSING_DIMENSION, "Scopes refused; must stay zero.", ["dimension"], registry=made)
        self._layers = Counter(LAYER_WRITES, "Writes by layer.", ["layer"], registry=made)
        self._superseded = Counter(SUPERSESSIONS, "Facts superseded.", registry=made)
        self._taken = Counter(TURNS_TAKEN, "Turns taken away from long sessions.", ["how"], registry=made)
        # Named from the start: an alert on a rate needs the zero that it rises from.
        for outcome in ("ok", "conflict"):
            self._cas.labels(outcome)
        for layer in Layer:
            self._layers.labels(layer.value)
        for dimension in DIMENSIONS:
            self._missing.labels(dimension)

    def cas(self, conflict: bool) -> None:
        """Count a commit that met a conflict, or did not."""
        self._cas.labels("conflict" if conflict else "ok").inc()

    def delivered(self, source: str, repeated: bool) -> None:
        """Count a request with an id, and whether the id was known; `source` is the operation it came by."""
        self._dedup.labels(source, "hit" if repeated else "miss").inc()

    def canaries(self, hits: int) -> None:
        """Count foreign canaries that were seen in a context."""
        self._canaries.inc(hits)

    def missing(self, dimension: str) -> None:
        """Count a scope refused for want of `dimension`."""
        self._missing.labels(dimension).inc()

    def layer_write(self, layer: Layer) -> None:
        """Count a write to `layer`."""
        self._layers.labels(layer.value).inc()

    def superseded(self) -> None:
        """Count a fact that gave way to a new value."""
        self._superseded.inc()

    def taken_away(self, how: str, turns: int) -> None:
        """Count turns taken away from sessions that were long, `condensed` or `dropped`."""
        self._taken.labels(how).inc(turns)

    def text(self, census: Census) -> str:
        """Prometheus text: what was counted, and what the deployment holds now."""
        held = CollectorRegistry()
        held.register(_Held(census))
        return generate_latest(self._registry).decode() + generate_latest(held).decode()


class _Held:
    """The part that is no count of events: it is looked up when it is asked for."""

    def __init__(self, census: Census) -> None:
        self._census = census

    def collect(self) -> Iterator[Metric]:
        sessions = self._census.sessions
        states = GaugeMetricFamily(SESSIONS, "Sessions by state.", labels=["state"])
        for state, number in Tally(state for _, state, _ in sessions).items():
            states.add_metric([state], number)
        owners = GaugeMetricFamily(TENANT_SESSIONS, "Sessions by tenant.", labels=["tenant"])
        for tenant, number in Tally(tenant for tenant, _, _ in sessions).items():
            owners.add_metric([tenant], number)
        sizes = GaugeMetricFamily(TENANT_BYTES, "Bytes of text stored, by tenant.", labels=["tenant"])
        for tenant, size in self._census.sizes.items():
            sizes.add_metric([tenant], size)
        turns = HistogramMetricFamily(TURNS, "Turns stored in each session that has any.")
        lengths = [turns for _, _, turns in sessions if turns]
        turns.add_metric([], _cumulative(lengths), sum(lengths))
        yield from (states, turns, owners, sizes)


def _cumulative(lengths: Sequence[int]) -> list[tuple[str, float]]:
    found = Tally(bisect_left(_BUCKETS, length) for length in lengths)
    names = [*map(str, map(float, _BUCKETS)), "+Inf"]
    return [(name, sum(found[each] for each in range(place + 1))) for place, name in enumerate(names)]
