"""The metrics, by the names that alerts and dashboards use; an operator's view."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

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


class Metrics:
    """Counts of one deployment, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        made = self._registry
        self._sessions = Gauge(SESSIONS, "Sessions by state.", ["state"], registry=made)
        self._turns = Histogram(
            TURNS,
            "Turn number reached by each append.",
            registry=made,
            buckets=(1, 2, 5, 10, 20, 50, 100, 200),
        )
        self._cas = Counter(CAS_COMMITS, "Commits by outcome.", ["outcome"], registry=made)
        self._dedup = Counter(DEDUP, "Requests with an id, by outcome.", ["outcome"], registry=made)
        self._canaries = Counter(CANARY_HITS, "Foreign canaries seen; must stay zero.", registry=made)
        self._missing = Counter(MISSING_DIMENSION, "Scopes refused.", ["dimension"], registry=made)
        self._layers = Counter(LAYER_WRITES, "Writes by layer.", ["layer"], registry=made)
        self._superseded = Counter(SUPERSESSIONS, "Facts superseded.", registry=made)
        self._tenants = Gauge(TENANT_SESSIONS, "Sessions by tenant.", ["tenant"], registry=made)
        for layer in Layer:
            self._layers.labels(layer.value)

    def cas(self, conflict: bool) -> None:
        """Count a commit that met a conflict, or did not."""
        self._cas.labels("conflict" if conflict else "ok").inc()

    def appended(self, turn: int, had_id: bool, repeated: bool) -> None:
        """Count an append, and whether its request id was known."""
        if had_id:
            self._dedup.labels("hit" if repeated else "miss").inc()
        if not repeated:
            self._turns.observe(turn)

    def missing(self, dimension: str) -> None:
        """Count a scope refused for want of `dimension`."""
        self._missing.labels(dimension).inc()

    def layer_write(self, layer: Layer) -> None:
        """Count a write to `layer`."""
        self._layers.labels(layer.value).inc()

    def superseded(self) -> None:
        """Count a fact that gave way to a new value."""
        self._superseded.inc()

    def text(self, sessions: Iterable[tuple[str, str]]) -> str:
        """Prometheus text; `sessions` are (tenant, state) pairs as they stand now."""
        found = list(sessions)
        self._sessions.clear()
        self._tenants.clear()
        for state, number in Tally(state for _, state in found).items():
            self._sessions.labels(state).set(number)
        for tenant, number in Tally(tenant for tenant, _ in found).items():
            self._tenants.labels(tenant).set(number)
        return generate_latest(self._registry).decode()
