"""Each of the nine metrics counts what it is named for, and two of them stay zero while nothing is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from partywall.canaries import Scope
from partywall.reference_impl import metrics
from partywall.reference_impl.context import Assembler
from partywall.reference_impl.keys import Key
from partywall.reference_impl.locks import SessionLocks
from partywall.reference_impl.parts import Parts
from prometheus_client.parser import text_string_to_metric_families

from .deployment import Deploy, Deployment, Echo

ANN = ("acme", "ann", "s1", "k1")
ZOE = ("zeta", "zoe", "s1", "k1")
NINE = {
    "partywall_sessions",
    "partywall_turns_per_session",
    "partywall_cas_commits",
    "partywall_request_dedup",
    "partywall_canary_hits",
    "partywall_missing_dimension",
    "partywall_layer_writes",
    "partywall_fact_supersessions",
    "partywall_tenant_sessions",
}


def _read(deployment: Deployment) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels."""
    families = text_string_to_metric_families(deployment.view("metrics"))
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_the_names_are_fixed_and_all_are_told(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="hello")
    families = {family.name for family in text_string_to_metric_families(reference.view("metrics"))}
    assert families >= NINE - {"partywall_request_dedup"} | {metrics.TENANT_BYTES}
    names = ("SESSIONS", "TURNS", "CAS_COMMITS", "DEDUP", "CANARY_HITS", "MISSING_DIMENSION", "LAYER_WRITES")
    assert {getattr(metrics, name) for name in (*names, "SUPERSESSIONS", "TENANT_SESSIONS")} == NINE


def test_sessions_are_counted_by_state_and_by_tenant(deploy: Deploy) -> None:
    deployment = deploy(archive_after=10.0)
    for number in range(3):
        deployment.value("append_turn", (*ANN[:2], f"s{number}", "k1"), text="hello")
    deployment.value("archive_session", (*ANN[:2], "s0", "k1"))
    deployment.system.clock.advance(8 * 3600 + 1)
    deployment.value("append_turn", ZOE, text="hello")
    found = _read(deployment)
    states = {key[1]: value for key, value in found.items() if key[0] == metrics.SESSIONS}
    assert states == {"archived": 1, "expired": 2, "active": 1}
    assert (found[metrics.TENANT_SESSIONS, "acme"], found[metrics.TENANT_SESSIONS, "zeta"]) == (3, 1)
    deployment.system.clock.advance(10)
    assert _read(deployment)[metrics.SESSIONS, "archived"] == 3


def test_turns_per_session_are_a_distribution_over_sessions(reference: Deployment) -> None:
    for session, turns in (("s1", 1), ("s2", 4), ("s3", 12)):
        for number in range(turns):
            reference.value("append_turn", (*ANN[:2], session, "k1"), text=str(number))
    reference.value("create_session", (*ANN[:2], "s4", "k1"))
    found = _read(reference)
    buckets = {key[1]: value for key, value in found.items() if key[0] == f"{metrics.TURNS}_bucket"}
    assert [buckets[bound] for bound in ("1.0", "2.0", "5.0", "10.0", "20.0", "+Inf")] == [1, 1, 2, 2, 3, 3]
    assert (found[f"{metrics.TURNS}_sum",], found[f"{metrics.TURNS}_count",]) == (17, 3)


def test_commits_are_counted_by_whether_they_met_a_conflict(deploy: Deploy) -> None:
    class NoLock(SessionLocks):
        def hold(self, key: Key) -> Any:
            self.number = getattr(self, "number", 0) + 1
            return super().hold(Key(f"{key}{self.number}"))

    deployment = deploy(replace(Parts(), model=Echo, locks=NoLock))
    deployment.value("append_turn", ANN, text="first")
    assert deployment.post("append_turn", ANN, text="late", expected_version=0).status_code == 409
    answers = deployment.together([("append_turn", ANN, {"text": f"note {n}"}) for n in range(8)])
    written = sum(answer.status_code == 200 for answer in answers)
    found = _read(deployment)
    assert found[f"{metrics.CAS_COMMITS}_total", "ok"] == 1 + written
    assert found[f"{metrics.CAS_COMMITS}_total", "conflict"] >= 1


def test_repeated_requests_are_counted_by_what_sent_them(reference: Deployment) -> None:
    for _ in range(3):
        reference.value("append_turn", ANN, text="a", request_id="r1")
    for _ in range(2):
        reference.value("run_turn", ANN, text="b", request_id="r2")
    reference.value("append_turn", ANN, text="c")
    found = {key[1:]: value for key, value in _read(reference).items() if key[0] == f"{metrics.DEDUP}_total"}
    assert found == {
        ("miss", "append_turn"): 1,
        ("hit", "append_turn"): 2,
        ("miss", "run_turn"): 1,
        ("hit", "run_turn"): 1,
    }


def test_a_foreign_canary_in_a_context_is_counted_and_logged_and_an_own_one_is_not(deploy: Deploy) -> None:
    class Mixed(Assembler):
        async def background(self, scope: Scope, query: str) -> list[str]:
            others = [Scope(*ZOE[:3]), Scope(scope.tenant, scope.user, scope.session)]
            marks = [await self._sessions.session(each) for each in others]
            return [str(session.mark) for session in marks if session is not None]

    for assembler, hits in ((Assembler, 0), (Mixed, 2)):
        deployment = deploy(replace(Parts(), model=Echo, assembler=assembler))
        for at in (ANN, ZOE):
            deployment.value("append_turn", at, text="hello")
        assert _read(deployment)[f"{metrics.CANARY_HITS}_total",] == 0
        deployment.value("context", ANN, query="what?")
        deployment.value("cached_answer", ANN, query="what?")
        assert _read(deployment)[f"{metrics.CANARY_HITS}_total",] == hits
        alerts = [line for line in deployment.view("read_log") if '"canary_hit"' in line]
        assert len(alerts) == hits
        assert all("tacme|u#" in line and "pw" not in line.split("canary_hit")[1] for line in alerts)


@pytest.mark.parametrize("level", ["tenant", "user", "session", "task"])
def test_a_scope_that_lacks_a_dimension_is_counted_by_which(reference: Deployment, level: str) -> None:
    at = dict(zip(("tenant", "user", "session", "task"), ANN, strict=True)) | {level: ""}
    token = reference.token("acme", "ann")
    assert _read(reference)[f"{metrics.MISSING_DIMENSION}_total", level] == 0
    assert reference.post("put_artifact", tuple(at.values()), token, name="a", text="b").status_code == 422
    assert _read(reference)[f"{metrics.MISSING_DIMENSION}_total", level] == 1


def test_supersessions_are_counted_and_first_values_are_not(reference: Deployment) -> None:
    for value in (1, 1, 2, 3):
        reference.value("put_fact", ANN, key="a", value=value, layer="task")
    assert _read(reference)[f"{metrics.SUPERSESSIONS}_total",] == 2


def test_bytes_are_counted_for_the_tenant_that_stored_them(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="é" * 10)
    reference.value("add_memory", ANN, text="x" * 100)
    reference.value("put_fact", ANN, key="a", value="y" * 98, layer="user")
    reference.value("put_artifact", ANN, name="a", text="é" * 50)
    reference.value("append_turn", ZOE, text="z")
    found = _read(reference)
    assert (found[metrics.TENANT_BYTES, "acme"], found[metrics.TENANT_BYTES, "zeta"]) == (20 + 100 + 100 + 100, 1)
    reference.value("purge", ANN, reference.token("acme", "ann", "admin"), level="tenant")
    assert metrics.TENANT_BYTES not in {key[0] for key in _read(reference) if "acme" in key}


def test_turns_that_were_taken_away_are_counted_by_how(deploy: Deploy) -> None:
    deployment = deploy(condense_at=12, max_turns=16)
    for number in range(12):
        deployment.value("append_turn", ANN, text=f"note {number}")
    assert _read(deployment)[f"{metrics.TURNS_TAKEN}_total", "condensed"] == 6
    for number in range(20):
        deployment.value("append_turn", ANN[:3], text=f"aside {number}")
    assert _read(deployment)[f"{metrics.TURNS_TAKEN}_total", "dropped"] > 0
