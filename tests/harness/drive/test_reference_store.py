"""The reference on the store that its spec names, and nothing of it left afterwards."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from partywall.harness import Pack, RunPlan, Status, TargetError, UsageError, verify
from partywall.harness.drive.resolve import kind_of
from partywall.harness.drive.target import TargetSettings
from partywall.harness.drive.targets import _reference_store
from partywall.harness.drive.targets._reference_store import STORES, ReferenceStore
from partywall.harness.drive.targets.reference import ReferenceTarget

URLS = {"PARTYWALL_POSTGRES_URL": "postgresql://h/x", "PARTYWALL_REDIS_URL": "redis://h"}
SERVICES = {"postgres": "PARTYWALL_TEST_POSTGRES_URL", "redis": "PARTYWALL_TEST_REDIS_URL"}


def test_a_run_has_a_schema_of_its_own() -> None:
    one, other = (ReferenceStore.of("postgres+redis", URLS) for _ in range(2))
    assert one.schema != other.schema
    assert one.urls == URLS
    assert ReferenceStore.of("sqlite-per-tenant", {}).urls == {}


def test_no_url_stands_among_the_arguments() -> None:
    assert not any("://" in argument for argument in ReferenceStore.of("postgres+redis", URLS).arguments)


@pytest.mark.parametrize(("store", "variable"), [("postgres", "POSTGRES"), ("sqlite+redis", "REDIS")])
def test_a_missing_url_names_its_variables(store: str, variable: str) -> None:
    with pytest.raises(UsageError) as refused:
        ReferenceStore.of(store, {})
    assert f"PARTYWALL_{variable}_URL (or PARTYWALL_TEST_{variable}_URL)" in str(refused.value)
    assert ReferenceStore.of(store, {f"PARTYWALL_TEST_{variable}_URL": "x://y"}).urls


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_reference_store, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"extra 'postgres': pip install 'partywall\[postgres\]'"):
        ReferenceStore.of("postgres", URLS)


def test_the_command_line_tells_a_missing_url_in_one_line_and_exits_2(tmp_path: Path) -> None:
    command = "from partywall.harness.frontends.cli import main; main()"
    given = {name: value for name, value in os.environ.items() if not name.startswith("PARTYWALL_")}
    ended = subprocess.run(
        [sys.executable, "-c", command, "verify", "--target", "reference:postgres", "--out", str(tmp_path)],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "PARTYWALL_POSTGRES_URL" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_server_that_does_not_answer_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTYWALL_POSTGRES_URL", "postgresql://postgres@127.0.0.1:9/test")

    async def opened() -> None:
        await kind_of("reference").open("reference:postgres", TargetSettings())

    with pytest.raises(TargetError, match=r"ended with code 3 .* the store cannot be reached"):
        asyncio.run(opened())


def _served(store: str) -> None:
    for server, variable in SERVICES.items():
        if server in store and not os.environ.get(variable):
            pytest.skip(f"{variable} names no running server")


@pytest.mark.services
def test_nothing_is_left_on_the_servers_though_the_agent_was_killed() -> None:
    _served("postgres+redis")

    async def killed() -> str:
        target = await kind_of("reference").open("reference:postgres+redis", TargetSettings())
        assert isinstance(target, ReferenceTarget)
        os.kill(target.process.pid, 9)
        await target.aclose()
        return target.store.schema

    schema = asyncio.run(killed())
    psycopg, redis = pytest.importorskip("psycopg"), pytest.importorskip("redis")
    with psycopg.connect(os.environ[SERVICES["postgres"]]) as session:
        found = session.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE %s", (f"{schema}%",)).fetchall()
    assert found == []
    with redis.Redis.from_url(os.environ[SERVICES["redis"]]) as client:
        assert list(client.scan_iter(match=f"{{{schema}}}:*")) == []


WHOLE = ("sqlite-per-tenant", "postgres", "postgres+redis")
"""Layouts that face the standard pack; the others differ from them in one part that has tests of its own."""
STORES_TO_RUN = [
    pytest.param(store, marks=[pytest.mark.services] if "+" in store or store == "postgres" else [pytest.mark.slow])
    for store in STORES
    if store not in ("sqlite", "sqlite-per-tenant+redis")
]


@pytest.mark.parametrize("store", STORES_TO_RUN)
def test_the_reference_is_held_and_nowhere_inconclusive_on_every_store(store: str) -> None:
    _served(store)
    pack = Pack.STANDARD if store in WHOLE else Pack.QUICK
    result = asyncio.run(verify(RunPlan(target=f"reference:{store}", seed=1, pack=pack)))
    undecided = [
        (judgement.trial.scenario, verdict.check, verdict.reason)
        for judgement in result.judgements
        for verdict in judgement.verdicts
        if verdict.status is Status.INCONCLUSIVE
    ]
    assert undecided == []
    assert result.status is Status.HELD
    assert f"({store})" in result.target
