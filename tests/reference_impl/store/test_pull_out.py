"""One tenant in a database of its own: everything goes on, and its neighbours notice nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from partywall.canaries import Level, PartywallError, UsageError
from partywall.reference_impl.append import Draft
from partywall.reference_impl.facts import Assertion
from partywall.reference_impl.layers import Layer
from partywall.reference_impl.refusals import StoreDown
from partywall.reference_impl.store.__main__ import main
from partywall.reference_impl.store.postgres import PostgresDatabase, pull_out
from partywall.reference_impl.store.postgres.connections import Statements

from .layouts import ANN, POSTGRES, ZOE, Stored, settings_of, shares, url_of

pytestmark = pytest.mark.services

ROUTE = "${PARTYWALL_TEST_ROUTE}"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The schema that a tenant is pulled out to, at the URL that ROUTE refers to."""
    monkeypatch.setenv("PARTYWALL_TEST_ROUTE", url_of(POSTGRES))
    with shares("postgres") as schema:
        yield schema


def _home(stored: Stored) -> PostgresDatabase:
    assert isinstance(stored.system.database, PostgresDatabase)
    return stored.system.database


def _sow(stored: Stored) -> None:
    stored.append(ANN, "odd \0 and \x1a turn", request_id="r1")
    stored.append(replace(ANN, session="s2"), "another")
    stored.run(stored.system.memories.add(ANN, "a red balloon"))
    stored.run(stored.system.facts.put(ANN, Assertion("n", "1", Layer.USER, 1.0, None)))
    stored.run(stored.system.artifacts.put(ANN, "paper", "text"))
    stored.append(ZOE, "zoes")


def _rows(schema: str) -> int:
    with psycopg.connect(url_of(POSTGRES)) as session:
        row = session.execute(f"SELECT count(*) FROM {schema}.turns").fetchone()
    assert row is not None
    count: int = row[0]
    return count


def test_a_tenant_lives_on_where_it_was_pulled_out_to(on_postgres: Stored, elsewhere: str) -> None:
    _sow(on_postgres)
    before = on_postgres.run(on_postgres.system.sessions.at_rest())
    assert pull_out(_home(on_postgres), "acme", ROUTE, elsewhere) >= 9
    assert (_rows(on_postgres.settings.store_schema), _rows(elsewhere)) == (1, 2)
    assert on_postgres.texts(ANN) == ["odd \0 and \x1a turn"]
    assert on_postgres.append(ANN, "odd \0 and \x1a turn", 1, request_id="r1").repeated
    assert len(on_postgres.run(on_postgres.system.memories.match(ANN, ["balloon"]))) == 1
    after = on_postgres.run(on_postgres.system.sessions.at_rest())
    assert (sorted(before.contents), sorted(before.keys)) == (sorted(after.contents), sorted(after.keys))
    assert on_postgres.append(ANN, "more", 1).turn == 2
    assert _rows(elsewhere) == 3
    assert on_postgres.texts(ZOE) == ["zoes"]


def test_an_agent_that_starts_later_finds_the_way(on_postgres: Stored, elsewhere: str, tmp_path: Path) -> None:
    _sow(on_postgres)
    pull_out(_home(on_postgres), "acme", ROUTE, elsewhere)
    again = Stored(settings_of("postgres", tmp_path / "again", on_postgres.settings.store_schema))
    assert again.append(ANN, "more", 1).turn == 2
    again.close()


def test_a_purge_takes_a_tenant_wherever_it_is(on_postgres: Stored, elsewhere: str) -> None:
    _sow(on_postgres)
    pull_out(_home(on_postgres), "acme", ROUTE, elsewhere)
    report = on_postgres.run(on_postgres.system.purge.run(ANN, Level.TENANT))
    assert isinstance(report["removed"], dict)
    assert report["removed"]["main"] >= 9
    assert _rows(elsewhere) == 0
    assert on_postgres.texts(ANN) == []
    assert on_postgres.append(ANN, "anew").turn == 1
    assert (_rows(on_postgres.settings.store_schema), _rows(elsewhere)) == (2, 0)


def test_a_copy_that_lost_a_row_moves_nothing_and_can_be_repeated(
    on_postgres: Stored, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _sow(on_postgres)
    many = Statements.many
    monkeypatch.setattr(Statements, "many", lambda self, statement, rows: many(self, statement, rows[1:]))
    with pytest.raises(PartywallError, match="nothing was moved"):
        pull_out(_home(on_postgres), "acme", ROUTE, elsewhere)
    assert on_postgres.texts(ANN) == ["odd \0 and \x1a turn"]
    assert (_rows(on_postgres.settings.store_schema), _rows(elsewhere)) == (3, 0)
    monkeypatch.undo()
    monkeypatch.setenv("PARTYWALL_TEST_ROUTE", url_of(POSTGRES))
    pull_out(_home(on_postgres), "acme", ROUTE, elsewhere)
    assert pull_out(_home(on_postgres), "acme", ROUTE, elsewhere) == 0
    assert (_rows(on_postgres.settings.store_schema), _rows(elsewhere)) == (1, 2)


def test_a_write_during_the_move_is_in_one_place_and_not_lost(on_postgres: Stored, elsewhere: str) -> None:
    _sow(on_postgres)

    async def side_by_side() -> None:
        moving = asyncio.to_thread(pull_out, _home(on_postgres), "acme", ROUTE, elsewhere)
        writes = [on_postgres.system.agent.append(ANN, Draft(f"turn {n}")) for n in range(10)]
        await asyncio.gather(moving, *writes)

    on_postgres.run(side_by_side())
    assert sorted(on_postgres.texts(ANN)[1:]) == sorted(f"turn {n}" for n in range(10))
    assert (_rows(on_postgres.settings.store_schema), _rows(elsewhere)) == (1, 12)


def test_what_cannot_be_moved_is_refused_in_one_sentence(on_postgres: Stored, elsewhere: str) -> None:
    _sow(on_postgres)
    with pytest.raises(UsageError, match="no such tenant"):
        pull_out(_home(on_postgres), "nobody", ROUTE, elsewhere)
    with pytest.raises(UsageError, match="the deployment's own"):
        pull_out(_home(on_postgres), "acme", ROUTE, on_postgres.settings.store_schema)
    with pytest.raises(UsageError, match="given by reference"):
        pull_out(_home(on_postgres), "acme", url_of(POSTGRES), elsewhere)
    assert on_postgres.texts(ANN) == ["odd \0 and \x1a turn"]


def test_an_agent_without_the_url_refuses_that_tenant_alone(
    on_postgres: Stored, elsewhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _sow(on_postgres)
    pull_out(_home(on_postgres), "acme", ROUTE, elsewhere)
    monkeypatch.delenv("PARTYWALL_TEST_ROUTE")
    again = Stored(settings_of("postgres", tmp_path / "again", on_postgres.settings.store_schema))
    with pytest.raises(StoreDown, match="the store of this tenant"):
        again.texts(ANN)
    assert again.texts(ZOE) == ["zoes"]
    again.close()


def test_the_command_moves_a_tenant(on_postgres: Stored, elsewhere: str, capsys: pytest.CaptureFixture[str]) -> None:
    _sow(on_postgres)
    schema = on_postgres.settings.store_schema
    command = ["pull-out", "--schema", schema, "--tenant", "acme", "--to", ROUTE, "--to-schema", elsewhere]
    assert main(command, {}) == 2
    assert "PARTYWALL_POSTGRES_URL" in capsys.readouterr().err
    assert main(command, {"PARTYWALL_POSTGRES_URL": url_of(POSTGRES)}) == 0
    assert f"moved to schema {elsewhere}" in capsys.readouterr().out
    assert on_postgres.texts(ANN) == ["odd \0 and \x1a turn"]
    assert _rows(elsewhere) == 2
