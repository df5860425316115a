"""The metrics: every pair at 0 from the start, no label of a tenant, values that are what was stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from partywall.harness.judge.assurance import anytime_upper
from partywall.harness.online import Follower, Log, Metrics, Settings
from prometheus_client import CollectorRegistry, generate_latest

from .marked import ACME, KEY, ZETA, line, log, token

NAMES = [
    "responses_seen_total",
    "checked_total",
    "skipped_total",
    "violations_total",
    "checker_errors_total",
    "check_duration_seconds_bucket",
    "queue_depth",
    "enabled",
    "effective_sample_ratio",
    "canaries_seen_total",
    "last_selftest_success_timestamp_seconds",
    "leak_rate_upper_bound",
    "build_info",
]


@pytest.fixture
def shown(tmp_path: Path) -> tuple[Follower, CollectorRegistry]:
    path = log(tmp_path / "l", line(reply=token(ACME)), line(reply=token(ZETA)), b"nope")
    follower = Follower(Log(path, tmp_path / "f"), Settings(KEY, rate=0), lambda one: None)
    registry = CollectorRegistry()
    Metrics("follow", follower).register(registry)
    return follower, registry


def test_every_name_and_every_pair_is_there_before_anything_was_seen(
    shown: tuple[Follower, CollectorRegistry],
) -> None:
    text = generate_latest(shown[1]).decode()
    assert [name for name in NAMES if f"\npartywall_{name}" not in text] == []
    for pair in ('violations_total{code="PW101",tap="follow"}', 'canaries_seen_total{kind="foreign",tap="follow"}'):
        assert f"partywall_{pair} 0.0" in text
    assert 'partywall_skipped_total{reason="dropped",tap="follow"} 0.0' in text
    assert 'leak_rate_upper_bound{confidence="0.95",tap="follow"} 1.0' in text


def test_the_values_are_what_was_stored(shown: tuple[Follower, CollectorRegistry]) -> None:
    follower, registry = shown
    follower.once()

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"partywall_{name}", {"tap": "follow", **labels})

    assert value("responses_seen_total") == 3
    assert value("checked_total", tier="1") == 3
    assert value("checked_total", tier="2") == 1
    assert value("violations_total", code="PW101") == 1
    assert value("canaries_seen_total", kind="own") == 1
    assert value("canaries_seen_total", kind="foreign") == 1
    assert value("skipped_total", reason="not_json") == 1
    assert value("effective_sample_ratio") == 0.5
    assert value("check_duration_seconds_count") == 3
    assert value("leak_rate_upper_bound", confidence="0.95") == pytest.approx(anytime_upper(1, 2))
    assert (value("last_selftest_success_timestamp_seconds") or 0) > 0


def test_no_label_and_no_value_names_a_tenant_a_user_or_a_session(shown: tuple[Follower, CollectorRegistry]) -> None:
    shown[0].once()
    text = generate_latest(shown[1]).decode()
    assert not any(word in text for word in ("acme", "zeta", '"ann"', '"s1"', "tenant=", "user=", "session="))
