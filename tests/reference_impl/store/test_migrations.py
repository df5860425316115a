"""Schemas of before are brought up, those of later are refused, and a change of tables is a new version."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from partywall.canaries import Scope, UsageError
from partywall.reference_impl.keys import Keys
from partywall.reference_impl.parts import TABLES, compose
from partywall.reference_impl.purge import JOBS
from partywall.reference_impl.store.migrations import VERSION

from .layouts import ANN, EMBEDDED, Stored, fresh_schema, settings_of

# The schema as it was before versions were recorded.
FIRST = """
CREATE TABLE sessions (
  tenant TEXT NOT NULL, user TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL DEFAULT '',
  incarnation TEXT NOT NULL, created_at REAL NOT NULL, last_active REAL NOT NULL,
  version INTEGER NOT NULL DEFAULT 0, mark TEXT,
  PRIMARY KEY (tenant, user, session)) WITHOUT ROWID;
CREATE TABLE turns (
  tenant TEXT NOT NULL, user TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL,
  turn INTEGER NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL,
  erased INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, user, session, turn)) WITHOUT ROWID;
CREATE INDEX turns_of_task ON turns (tenant, user, session, task, turn);
CREATE TABLE requests (
  tenant TEXT NOT NULL, user TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL,
  caller TEXT NOT NULL, request_id TEXT NOT NULL, part TEXT NOT NULL,
  digest TEXT NOT NULL, turn INTEGER NOT NULL,
  PRIMARY KEY (tenant, user, session, caller, request_id, part)) WITHOUT ROWID;
CREATE TABLE facts (
  tenant TEXT NOT NULL, user TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL,
  layer TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, value TEXT NOT NULL,
  valid_from REAL NOT NULL, valid_to REAL, recorded_at REAL NOT NULL, source_turn INTEGER,
  superseded_by INTEGER,
  PRIMARY KEY (tenant, user, session, task, layer, name, version)) WITHOUT ROWID;
CREATE TABLE memories (
  rid INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, user TEXT NOT NULL,
  session TEXT NOT NULL DEFAULT '', task TEXT NOT NULL DEFAULT '',
  memory_id TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL, UNIQUE (tenant, user, memory_id));
CREATE TABLE memory_counters (
  tenant TEXT NOT NULL, user TEXT NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (tenant, user)) WITHOUT ROWID;
CREATE VIRTUAL TABLE memory_index USING fts5(owner, text);
CREATE TABLE artifacts (
  tenant TEXT NOT NULL, user TEXT NOT NULL, session TEXT NOT NULL, task TEXT NOT NULL,
  name TEXT NOT NULL, path TEXT NOT NULL, facts_at REAL NOT NULL,
  PRIMARY KEY (tenant, user, session, task, name)) WITHOUT ROWID;
CREATE TABLE purges (
  job TEXT PRIMARY KEY, tenant TEXT, user TEXT, session TEXT, task TEXT, level INTEGER NOT NULL,
  confirmed TEXT NOT NULL DEFAULT '{}') WITHOUT ROWID;
"""
# What the tables were when a version was given out: another digest needs another version, and a step to it.
RECORDED = {2: "e64b755580932eff"}


def _file(layout: str, data: Path) -> Path:
    return data / ("main.db" if layout == "sqlite" else "main/tenants/tacme.db")


def _sow_first(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as db:
        db.executescript(FIRST)
        db.execute("INSERT INTO sessions VALUES ('acme', 'ann', 's1', '', 'life', ?1, ?1, 1, NULL)", (time.time(),))
        db.execute("INSERT INTO turns VALUES ('acme', 'ann', 's1', 'k1', 1, 'user', 'of before', 1e9, 0)")
        db.execute("INSERT INTO memory_counters VALUES ('acme', 'ann', 3), ('acme', 'bob', 1)")
        for rid, user, text in ((1, "ann", "first balloon"), (2, "bob", "bobs balloon"), (7, "ann", "second one")):
            db.execute(
                "INSERT INTO memories (rid, tenant, user, memory_id, text, at) VALUES (?, 'acme', ?, ?, ?, 1e9)",
                (rid, user, f"m{rid}", text),
            )
            owner = Keys().index(Scope("acme", user, "", ""))
            db.execute("INSERT INTO memory_index (rowid, owner, text) VALUES (?, ?, ?)", (rid, str(owner), text))
    db.close()


@pytest.mark.parametrize("layout", EMBEDDED)
def test_a_database_of_the_first_version_is_brought_up(layout: str, tmp_path: Path) -> None:
    _sow_first(_file(layout, tmp_path))
    stored = Stored(settings_of(layout, tmp_path, fresh_schema()))
    memories = stored.system.memories
    assert stored.texts(ANN) == ["of before"]
    assert [chunk.text for chunk in stored.run(memories.all(ANN))] == ["first balloon", "second one"]
    assert [chunk.chunk_id for chunk in stored.run(memories.match(ANN, ["balloon"]))] == ["m1"]
    added = stored.run(memories.add(ANN, "third balloon"))
    assert [chunk.chunk_id for chunk in stored.run(memories.all(ANN))] == ["m1", "m7", added]
    assert stored.run(memories.delete(ANN, "m1"))
    assert [chunk.chunk_id for chunk in stored.run(memories.match(ANN, ["balloon"]))] == [added]
    stored.run(stored.system.artifacts.put(ANN, "paper", "text"))
    stored.close()
    with sqlite3.connect(_file(layout, tmp_path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
    db.close()


@pytest.mark.parametrize("layout", EMBEDDED)
def test_a_database_of_a_later_version_is_refused_in_one_sentence(layout: str, tmp_path: Path) -> None:
    path = tmp_path / ("main.db" if layout == "sqlite" else "main/control.db")
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(UsageError, match=r"schema version 99.*up to \d+: use a newer one"):
        compose(settings_of(layout, tmp_path, fresh_schema()))


def test_of_many_who_open_an_old_database_at_once_one_brings_it_up(tmp_path: Path) -> None:
    _sow_first(_file("sqlite", tmp_path))
    failed: list[BaseException] = []

    def start() -> None:
        try:
            stored = Stored(settings_of("sqlite", tmp_path, fresh_schema()))
            assert len(stored.run(stored.system.memories.all(ANN))) == 2
            stored.close()
        except BaseException as error:
            failed.append(error)

    starters = [threading.Thread(target=start) for _ in range(4)]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert failed == []


def test_a_database_that_lacks_a_column_gets_it(tmp_path: Path) -> None:
    stored = Stored(settings_of("sqlite", tmp_path, fresh_schema()))
    stored.append(ANN, "of before")
    stored.close()
    with sqlite3.connect(_file("sqlite", tmp_path)) as db:
        db.execute("ALTER TABLE sessions DROP COLUMN mark")
        db.execute("PRAGMA user_version = 0")
    db.close()
    again = Stored(settings_of("sqlite", tmp_path, fresh_schema()))
    assert again.append(ANN, "of now", 1).turn == 2
    again.close()


def test_a_change_of_the_tables_is_a_new_version() -> None:
    described = [(table.name, table.columns, table.key, table.indexes) for table in (*TABLES, JOBS)]
    digest = hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]
    assert RECORDED.get(VERSION) == digest, "raise VERSION in store/migrations.py, say what changed, and record it here"
