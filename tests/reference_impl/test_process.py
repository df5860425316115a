"""The service as a process of its own, with a model behind it: ready, used, killed, started again, ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from partywall.reference_impl.identity import Principal, Tokens

KEY = "a key for tests, long enough to sign with"
SCOPE = {"tenant": "acme", "user": "ann", "session": "s1", "task": "k1"}


class _Model(ThreadingHTTPServer):
    """Answers every chat completion by repeating the last message; keeps the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, _Model)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((self.path, body))
        message = {"role": "assistant", "content": "noted: " + body["messages"][-1]["content"]}
        answer = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def model() -> Iterator[_Model]:
    server = _Model()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def _serving(data: Path, model: _Model, *more: str) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    url = f"http://127.0.0.1:{model.server_address[1]}/v1"
    command = [sys.executable, "-m", "partywall.reference_impl", "--data", str(data), "--model-url", url, *more]
    environment = {**os.environ, "PARTYWALL_TOKEN_KEY": KEY, "PARTYWALL_KEY": KEY}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        word, address = process.stdout.readline().split()
        assert word == "ready"
        token = Tokens(KEY).issue(Principal("acme", "ann", "user"))
        with httpx.Client(base_url=address, headers={"authorization": f"Bearer {token}"}) as client:
            yield process, client
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _value(client: httpx.Client, name: str, **arguments: Any) -> Any:
    response = client.post(f"/v1/{name}", json={"scope": SCOPE, **arguments})
    assert response.status_code == 200, response.text
    return response.json()["value"]


def test_what_was_acknowledged_survives_a_kill_and_the_end_is_clean(tmp_path: Path, model: _Model) -> None:
    with _serving(tmp_path, model) as (process, client):
        assert client.get("/healthz").json() == {"status": "ok"}
        assert _value(client, "append_turn", text="one", request_id="r1") == {"turn": 1, "version": 1}
        turn = _value(client, "run_turn", text="two [pw:p12]", request_id="r2")
        assert (turn["text"], turn["turn"], turn["version"]) == ("noted: two [pw:p12]", 2, 3)
        path, body = model.requests[0]
        assert path == "/v1/chat/completions"
        assert [each["content"] for each in body["messages"][1:]] == ["one", "two [pw:p12]"]
        process.kill()
    with _serving(tmp_path, model) as (process, client):
        assert _value(client, "append_turn", text="one", request_id="r1") == {"turn": 1, "version": 1}
        assert [each["turn"] for each in _value(client, "list_turns")] == [1, 2, 3]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=15) == 0


def test_a_mutant_is_served_by_the_same_command(tmp_path: Path, model: _Model) -> None:
    with _serving(tmp_path, model, "--mutant", "M12") as (process, client):
        _value(client, "append_turn", text="only mine")
        assert "only mine" in _value(client, "cached_answer", query="what?")
        bob = {"authorization": f"Bearer {Tokens(KEY).issue(Principal('zeta', 'bob', 'user'))}"}
        body = {"scope": {**SCOPE, "tenant": "zeta", "user": "bob"}, "query": "what?"}
        assert "only mine" in client.post("/v1/cached_answer", json=body, headers=bob).json()["value"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=15) == 0


def test_two_processes_on_one_store_lose_no_turn(tmp_path: Path, model: _Model) -> None:
    with _serving(tmp_path, model) as (_, one), _serving(tmp_path, model) as (_, other):
        codes: list[int] = []

        def write(client: httpx.Client, name: str) -> None:
            for n in range(10):
                body = {"scope": SCOPE, "text": f"{name}{n}"}
                codes.append(client.post("/v1/append_turn", json=body).status_code)

        writers = [threading.Thread(target=write, args=pair) for pair in ((one, "a"), (other, "b"))]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        turns = _value(one, "list_turns")
        assert set(codes) <= {200, 409}
        assert [turn["turn"] for turn in turns] == list(range(1, codes.count(200) + 1))
        assert turns == _value(other, "list_turns")


def test_a_missing_key_is_told_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "partywall.reference_impl", "--data", str(tmp_path), "--model-url", "http://x"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARTYWALL_")}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "PARTYWALL_TOKEN_KEY" in ended.stderr
