"""PostgreSQL: partitions per tenant, a user of few rights, a server that goes away and comes back."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from partywall.canaries import Level, UsageError
from partywall.reference_impl.parts import compose
from partywall.reference_impl.refusals import StoreDown
from partywall.reference_impl.settings import Settings
from partywall.reference_impl.store.database import Connection
from partywall.reference_impl.store.postgres import PostgresDatabase
from partywall.reference_impl.store.postgres.text import original, stored

from .layouts import ANN, POSTGRES, ZOE, Stored, fresh_schema, relay, settings_of, shares, url_of

ANY_TEXT = st.text(st.characters(exclude_categories=[]) | st.sampled_from("\0\x1a\ud800\udfff0a"))


@given(ANY_TEXT)
@example("\x1a0000")
def test_a_text_comes_back_and_is_one_that_postgresql_takes(text: str) -> None:
    kept = str(stored(text))
    assert original(kept) == text
    assert "\0" not in kept
    kept.encode("utf-8")


@given(ANY_TEXT, ANY_TEXT)
@example("\0", "\x1a0000")
@example("\x1a", "\x1a001a")
def test_two_texts_are_never_stored_as_one(one: str, other: str) -> None:
    assert (stored(one) == stored(other)) == (one == other)


@pytest.mark.services
def test_a_tenants_rows_lie_in_partitions_of_its_own_that_a_purge_drops(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "anns")
    on_postgres.append(ZOE, "zoes")
    assert len(_spaces(on_postgres)) == 3
    on_postgres.run(on_postgres.system.purge.run(ANN, Level.TENANT))
    assert len(_spaces(on_postgres)) == 2
    assert on_postgres.texts(ZOE) == ["zoes"]


@pytest.mark.services
def test_a_drop_that_was_cut_short_is_ended_by_the_next_write(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "of before")
    schema = on_postgres.settings.store_schema
    with psycopg.connect(url_of(POSTGRES), autocommit=True) as session:
        row = session.execute(f"UPDATE {schema}.tenants SET state = 'dropping' RETURNING slot").fetchone()
        assert row is not None
        session.execute(f'ALTER TABLE {schema}.turns DETACH PARTITION "{row[0]}".turns')
    assert on_postgres.append(ANN, "of now").turn == 1
    assert on_postgres.texts(ANN) == ["of now"]


@pytest.mark.services
def test_a_job_whose_connection_is_killed_leaves_nothing_and_the_next_goes_on(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "one")

    def killed(db: Connection) -> None:
        db.execute("UPDATE turns SET text = 'half' WHERE tenant = 'acme'")
        row = db.execute("SELECT pg_backend_pid() AS pid").fetchone()
        assert row is not None
        with psycopg.connect(url_of(POSTGRES), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (row["pid"],))
        db.execute("SELECT 1")

    with pytest.raises(StoreDown) as down:
        on_postgres.run(on_postgres.system.database.write("acme", killed))
    assert (down.value.code, down.value.status) == ("store_unavailable", 503)
    assert on_postgres.texts(ANN) == ["one"]


@pytest.mark.services
def test_connections_that_died_while_idle_are_replaced_unseen(on_postgres: Stored) -> None:
    on_postgres.append(ANN, "one")
    with psycopg.connect(url_of(POSTGRES), autocommit=True) as other:
        killed = other.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = %s",
            (f"partywall {on_postgres.settings.store_schema}",),
        ).fetchone()
    assert killed is not None
    assert killed[0] > 0
    assert on_postgres.append(ANN, "two", 1).turn == 2


@pytest.mark.services
def test_a_server_that_goes_away_and_comes_back_is_told_and_found_again(tmp_path: Path) -> None:
    with shares("postgres") as schema, relay(url_of(POSTGRES)) as (relayed, switch):
        stored = Stored(settings_of("postgres", tmp_path, schema, postgres_url=relayed))
        stored.append(ANN, "one")
        switch.clear()
        for _ in range(2):
            with pytest.raises(StoreDown):
                stored.append(ANN, "two", 1)
        switch.set()
        assert stored.append(ANN, "two", 1).turn == 2
        assert stored.texts(ANN) == ["one", "two"]
        stored.close()


def test_a_server_that_does_not_answer_is_told_at_the_start(tmp_path: Path) -> None:
    settings = _elsewhere(tmp_path, "postgresql://postgres@127.0.0.1:9/test")
    with pytest.raises(StoreDown):
        compose(settings)


@pytest.mark.services
def test_a_newer_schema_is_refused_in_one_sentence(on_postgres: Stored, tmp_path: Path) -> None:
    schema = on_postgres.settings.store_schema
    with psycopg.connect(url_of(POSTGRES), autocommit=True) as session:
        session.execute(f"UPDATE {schema}.deployment SET version = 99")
    with pytest.raises(UsageError, match=r"schema version 99.*use a newer one"):
        compose(settings_of("postgres", tmp_path / "again", schema))


@pytest.mark.services
def test_an_older_schema_is_brought_up_with_its_partitions(tmp_path: Path) -> None:
    with shares("postgres") as schema:
        first = Stored(settings_of("postgres", tmp_path, schema))
        first.append(ANN, "one")
        first.close()
        with psycopg.connect(url_of(POSTGRES), autocommit=True) as session:
            session.execute(f"UPDATE {schema}.deployment SET version = 1")
            session.execute(f"ALTER TABLE {schema}.sessions DROP COLUMN mark")
            session.execute(f"DROP TABLE {schema}.artifacts")
        again = Stored(settings_of("postgres", tmp_path, schema))
        assert again.append(ANN, "two", 1).turn == 2
        again.run(again.system.artifacts.put(ANN, "paper", "text"))
        assert again.run(again.system.artifacts.get(ANN, "paper")) == "text"
        found = again.run(again.system.sessions.session(ANN))
        assert found is not None
        assert (found.version, found.mark) == (2, None)
        again.close()


@pytest.mark.services
def test_processes_that_start_at_once_make_one_schema(tmp_path: Path) -> None:
    with shares("postgres") as schema:
        failed: list[BaseException] = []
        identities: set[str] = set()

        def start(number: int) -> None:
            try:
                made = Stored(settings_of("postgres", tmp_path / str(number), schema))
                assert isinstance(made.system.database, PostgresDatabase)
                identities.add(made.system.database.identity())
                made.append(replace(ANN, session=f"s{number}"), "x")
                made.close()
            except BaseException as error:
                failed.append(error)

        starters = [threading.Thread(target=start, args=(number,)) for number in range(4)]
        for starter in starters:
            starter.start()
        for starter in starters:
            starter.join()
        assert failed == []
        assert len(identities) == 1


@pytest.mark.services
def test_a_user_of_few_rights_runs_a_deployment_and_one_of_none_is_told_what_to_do(tmp_path: Path) -> None:
    url, user = url_of(POSTGRES), f"pwt_user_{os.urandom(4).hex()}"
    with shares("postgres") as schema, psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {user} LOGIN NOSUPERUSER NOCREATEROLE")
        try:
            settings = settings_of("postgres", tmp_path, schema, postgres_url=_as_user(url, user))
            with pytest.raises(UsageError, match="GRANT partywall_app TO"):
                compose(settings)
            admin.execute(f"GRANT partywall_app, partywall_operator TO {user}")
            with pytest.raises(UsageError, match=f"may not make schema {schema}"):
                compose(settings)
            admin.execute(f"GRANT CREATE ON DATABASE {admin.info.dbname} TO {user}")
            stored = Stored(settings)
            stored.append(ANN, "anns")
            stored.append(ZOE, "zoes")
            assert stored.texts(ANN) == ["anns"]
            assert {each.scope.tenant for each in stored.run(stored.system.sessions.everywhere())} == {"acme", "zeta"}
            stored.run(stored.system.purge.run(ANN, Level.TENANT))
            assert stored.texts(ANN) == []
            stored.close()
        finally:
            for name in _spaces_of(schema):
                admin.execute(f'DROP SCHEMA "{name}" CASCADE')
            admin.execute(f"DROP OWNED BY {user}")
            admin.execute(f"DROP ROLE {user}")


def test_a_missing_url_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="PARTYWALL_POSTGRES_URL"):
        compose(_elsewhere(tmp_path, None))


def _elsewhere(data: Path, url: str | None) -> Settings:
    return settings_of("sqlite", data, fresh_schema(), store="postgres", postgres_url=url)


def _spaces(stored: Stored) -> list[str]:
    return _spaces_of(stored.settings.store_schema)


def _spaces_of(schema: str) -> list[str]:
    with psycopg.connect(url_of(POSTGRES)) as session:
        rows = session.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE %s", (f"{schema}%",)).fetchall()
    return [name for (name,) in rows]


def _as_user(url: str, user: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{user}@{parts.netloc.rpartition('@')[2]}"))
