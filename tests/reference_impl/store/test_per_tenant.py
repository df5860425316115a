"""A file per tenant: made by a write, removed by a purge, and no more of anything open than a few."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from partywall.canaries import Level
from partywall.reference_impl.append import Draft

from .layouts import ANN, ZOE, Stored, fresh_schema, settings_of


@pytest.fixture
def filed(tmp_path: Path) -> Iterator[Stored]:
    """The reference with a file per tenant."""
    stored = Stored(settings_of("sqlite-per-tenant", tmp_path, fresh_schema()))
    yield stored
    stored.close()


def _files(stored: Stored) -> list[str]:
    return sorted(path.name for path in (stored.settings.data / "main" / "tenants").iterdir() if path.name != "lock")


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_write_makes_the_file_and_a_read_does_not(filed: Stored) -> None:
    assert filed.texts(ANN) == []
    filed.run(filed.system.database.compact("acme"))
    assert _files(filed) == []
    filed.append(ANN, "x")
    assert "tacme.db" in _files(filed)


def test_a_purge_leaves_no_file_and_no_byte(filed: Stored) -> None:
    filed.append(ANN, "unmistakable")
    filed.append(ZOE, "zoes")
    filed.run(filed.system.purge.run(ANN, Level.TENANT))
    assert {name.partition(".db")[0] for name in _files(filed)} == {"tzeta"}
    for path in filed.settings.data.rglob("*"):
        assert not path.is_file() or b"unmistakable" not in path.read_bytes()
    assert filed.texts(ZOE) == ["zoes"]


def test_what_is_erased_below_the_tenant_lies_in_no_free_page_of_its_file(filed: Stored) -> None:
    filed.append(ANN, "unmistakable")
    filed.append(replace(ANN, session="s2"), "kept")
    filed.run(filed.system.purge.run(ANN, Level.SESSION))
    found = b"".join(path.read_bytes() for path in filed.settings.data.rglob("*") if path.is_file())
    assert b"unmistakable" not in found
    assert b"kept" in found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_many_tenants_take_no_more_threads_and_open_files_than_a_few(filed: Stored) -> None:
    async def write(first: int, last: int) -> None:
        scopes = [replace(ANN, tenant=f"tenant-{number}") for number in range(first, last)]
        await asyncio.gather(*(filed.system.sessions.append(scope, Draft("x"), None) for scope in scopes))

    filed.run(write(0, 80))
    threads, files = threading.active_count(), _open_files()
    filed.run(write(80, 160))
    assert threading.active_count() == threads
    assert _open_files() <= files + 6
    assert len(filed.run(filed.system.sessions.everywhere())) == 160


def test_a_process_that_had_the_file_open_does_not_write_into_a_removed_one(filed: Stored) -> None:
    other = Stored(filed.settings)
    filed.append(ANN, "of before")
    assert other.append(ANN, "by the other", 1).turn == 2
    filed.run(filed.system.database.drop("acme"))
    assert other.texts(ANN) == []
    assert other.append(ANN, "of now").turn == 1
    assert filed.texts(ANN) == ["of now"]
    other.close()
    assert filed.texts(ANN) == ["of now"]
    assert filed.append(ANN, "and more", 1).turn == 2


def test_two_processes_that_drop_and_write_lose_nothing_acknowledged(filed: Stored) -> None:
    script = """
import asyncio, sys
from pathlib import Path
from partywall.canaries import Scope
from partywall.reference_impl.parts import compose
from partywall.reference_impl.settings import Settings
settings = Settings(data=Path(sys.argv[1]), model_url="http://x/v1", token_key="x" * 40, store="sqlite-per-tenant")
async def run():
    database = compose(settings).database
    print("ready", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        await database.drop("acme")
        print("dropped", flush=True)
asyncio.run(run())
"""
    command = [sys.executable, "-c", script, str(filed.settings.data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        for _ in range(15):
            other.stdin.write("drop\n")
            other.stdin.flush()
            acked = [filed.append(replace(ANN, session=os.urandom(4).hex()), str(n)).text for n in range(10)]
            assert other.stdout.readline() == "dropped\n"
            # What was acknowledged before the drop went with it; the rest is there, in the order of the writes.
            kept = filed.run(filed.system.sessions.sessions(ANN))
            texts = [filed.texts(replace(ANN, session=each.scope.session))[0] for each in kept]
            assert texts == acked[len(acked) - len(texts) :]
        with suppress(BrokenPipeError):
            other.stdin.close()


def test_a_busy_tenant_does_not_keep_its_neighbours_from_writing(filed: Stored) -> None:
    hold, held = threading.Event(), threading.Event()

    async def both() -> None:
        def slow(db: object) -> None:
            held.set()
            hold.wait(30)

        slow_ones = [asyncio.create_task(filed.system.database.write("acme", slow)) for _ in range(20)]
        await asyncio.to_thread(held.wait, 30)
        assert (await filed.system.sessions.append(ZOE, Draft("zoes"), None)).turn == 1
        hold.set()
        await asyncio.gather(*slow_ones)

    filed.run(both())
