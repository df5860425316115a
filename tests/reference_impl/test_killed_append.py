"""kill -9 while many append: what was acknowledged is there once, under its number, and a retry finds it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from partywall.reference_impl.identity import Principal, Tokens

KEY = "a key for tests, long enough to sign with"
SESSIONS = ("hot", "cold")
WRITERS = 8


@contextmanager
def serving(data: Path, more: tuple[str, ...], environment: Mapping[str, str]) -> Iterator[tuple[Any, str]]:
    """A deployment in a process of its own; its model is never asked."""
    command = [sys.executable, "-m", "partywall.reference_impl", "--data", str(data), "--model-url", "http://x/v1"]
    given = {**os.environ, **environment, "PARTYWALL_TOKEN_KEY": KEY}
    process = subprocess.Popen([*command, *more], env=given, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        word, address = process.stdout.readline().split()
        assert word == "ready"
        yield process, address
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Writer(threading.Thread):
    """Appends under request ids until nobody answers; keeps what was acknowledged, and what it never heard of."""

    def __init__(self, address: str, number: int, heard: threading.Semaphore) -> None:
        super().__init__()
        self.address = address
        self.number = number
        self.heard = heard
        self.acknowledged: dict[tuple[str, str], int] = {}
        self.unknown: tuple[str, str] | None = None

    def run(self) -> None:
        with client(self.address) as http:
            for n in range(10_000):
                sent = (SESSIONS[n % 4 == 3], f"w{self.number}-{n}")
                try:
                    answer = append(http, *sent)
                except httpx.HTTPError:
                    self.unknown = sent
                    return
                if answer.status_code == 200:
                    self.acknowledged[sent] = answer.json()["value"]["turn"]
                    self.heard.release()
                else:
                    assert answer.status_code in (409, 429), answer.text


def client(address: str) -> httpx.Client:
    token = Tokens(KEY).issue(Principal("acme", "ann", "user"))
    return httpx.Client(base_url=address, headers={"authorization": f"Bearer {token}"}, timeout=10)


def append(http: httpx.Client, session: str, text: str) -> httpx.Response:
    scope = {"tenant": "acme", "user": "ann", "session": session, "task": "k1"}
    return http.post("/v1/append_turn", json={"scope": scope, "text": text, "request_id": text})


def turns(http: httpx.Client, session: str) -> list[dict[str, Any]]:
    scope = {"tenant": "acme", "user": "ann", "session": session}
    found: list[dict[str, Any]] = http.post("/v1/list_turns", json={"scope": scope}).json()["value"]
    return found


def killed_and_started_again(data: Path, acknowledged: int, *more: str, **environment: str) -> None:
    """Kill the deployment once that many appends were acknowledged, start it again, and look."""
    heard = threading.Semaphore(0)
    with serving(data, more, environment) as (process, address):
        writers = [Writer(address, number, heard) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        for _ in range(acknowledged):
            assert heard.acquire(timeout=30)
        process.send_signal(signal.SIGKILL)
        for writer in writers:
            writer.join()
    acked = {sent: turn for writer in writers for sent, turn in writer.acknowledged.items()}
    lost_sight_of = [writer.unknown for writer in writers if writer.unknown]
    assert len(acked) >= acknowledged
    assert lost_sight_of, "the kill met nobody in flight"
    with serving(data, more, environment) as (_, address), client(address) as http:
        for session in SESSIONS:
            listed = turns(http, session)
            where = {each["text"]: each["turn"] for each in listed}
            assert [each["turn"] for each in listed] == list(range(1, len(listed) + 1))
            assert len(where) == len(listed)
            for (owner, text), turn in acked.items():
                assert owner != session or where.get(text) == turn
        for sent in lost_sight_of:
            first = append(http, *sent).json()["value"]["turn"]
            assert append(http, *sent).json()["value"]["turn"] == first
            assert [each["turn"] for each in turns(http, sent[0]) if each["text"] == sent[1]] == [first]


@pytest.mark.parametrize("store", ["sqlite", "sqlite-per-tenant"])
def test_a_killed_deployment_has_lost_nothing_that_it_acknowledged(tmp_path: Path, store: str) -> None:
    killed_and_started_again(tmp_path, 40, "--store", store)


@pytest.mark.services
@pytest.mark.parametrize("store", ["postgres", "postgres+redis"])
def test_nor_has_one_whose_rows_lie_on_a_server(tmp_path: Path, store: str) -> None:
    named = {name: os.environ.get(f"PARTYWALL_TEST_{name}", "") for name in ("POSTGRES_URL", "REDIS_URL")}
    if not all(named.values()):
        pytest.skip("PARTYWALL_TEST_POSTGRES_URL and PARTYWALL_TEST_REDIS_URL name no running servers")
    urls = {f"PARTYWALL_{name}": url for name, url in named.items()}
    schema = f"killed_{uuid4().hex[:12]}"
    try:
        killed_and_started_again(tmp_path, 40, "--store", store, "--store-schema", schema, **urls)
    finally:
        command = [sys.executable, "-m", "partywall.reference_impl.store", "discard", "--schema", schema]
        subprocess.run(command, env={**os.environ, **urls}, check=True, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("acknowledged", [1, 7, 60, 100, 140])
def test_nothing_is_lost_whenever_the_kill_comes(tmp_path: Path, acknowledged: int) -> None:
    killed_and_started_again(tmp_path, acknowledged)
