"""The stores a deployment can have, each as settings of its own and taken away afterwards."""

from __future__ import annotations

import asyncio
import os
import select
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import pytest
from partywall.canaries import Scope
from partywall.reference_impl.append import Appended, Draft
from partywall.reference_impl.parts import Parts, System, compose
from partywall.reference_impl.settings import Settings

T = TypeVar("T")

KEY = "a key for tests, long enough to sign with"
POSTGRES = "PARTYWALL_TEST_POSTGRES_URL"
REDIS = "PARTYWALL_TEST_REDIS_URL"
EMBEDDED = ("sqlite", "sqlite-per-tenant")
SERVED = ("postgres", "postgres+redis")
ROWS = [*EMBEDDED, pytest.param("postgres", marks=pytest.mark.services)]
LAYOUTS = [*EMBEDDED, *(pytest.param(name, marks=pytest.mark.services) for name in SERVED)]

ANN = Scope("acme", "ann", "s1", "k1")
ZOE = Scope("zeta", "ann", "s1", "k1")


def url_of(variable: str) -> str:
    """The URL of a running server; the test is skipped without one."""
    if not os.environ.get(variable):
        pytest.skip(f"{variable} names no running server")
    return os.environ[variable]


def fresh_schema() -> str:
    """A deployment's name that nobody else has."""
    return f"pwt_{os.urandom(6).hex()}"


def settings_of(layout: str, data: Path, schema: str, **more: Any) -> Settings:
    """Settings of a deployment on that store."""
    given: dict[str, Any] = {"data": data, "model_url": "http://model.invalid/v1", "token_key": KEY, "mark_key": KEY}
    given |= {"store": layout, "store_schema": schema}
    if layout.startswith("postgres"):
        given["postgres_url"] = url_of(POSTGRES)
    if layout.endswith("+redis"):
        given["redis_url"] = url_of(REDIS)
    return Settings.model_validate(given | more)


class Stored:
    """A deployment on one store, without its front; every call is run to its end."""

    def __init__(self, settings: Settings, parts: Parts | None = None) -> None:
        self.settings = settings
        self.runner = asyncio.Runner()
        self.system: System = compose(settings, parts)

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(call)

    def append(self, scope: Scope, text: str, seen: int | None = None, **more: Any) -> Appended:
        return self.run(self.system.sessions.append(scope, Draft(text, **more), seen))

    def texts(self, scope: Scope) -> list[str]:
        return [turn.text for turn in self.run(self.system.sessions.turns(scope))]

    def close(self) -> None:
        self.runner.run(self.system.aclose())
        self.runner.close()


@contextmanager
def shares(layout: str) -> Iterator[str]:
    """A deployment's name, whose share of every server is taken away at the end."""
    schema = fresh_schema()
    try:
        yield schema
    finally:
        if layout.startswith("postgres"):
            from partywall.reference_impl.store import postgres

            postgres.discard(url_of(POSTGRES), schema)
        if layout.endswith("+redis"):
            from partywall.reference_impl import shared

            shared.discard(url_of(REDIS), schema)


@contextmanager
def relay(url: str) -> Iterator[tuple[str, threading.Event]]:
    """The URL of a way to a server that can be cut: while the event is clear, no connection lives or is made."""
    parts = urlsplit(url)
    server = (parts.hostname or "127.0.0.1", parts.port or 0)
    open_, alive = threading.Event(), threading.Event()
    open_.set()
    alive.set()
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        pairs: dict[socket.socket, socket.socket] = {}
        while alive.is_set():
            ready, _, _ = select.select([listening, *pairs], [], [], 0.02)
            for each in ready:
                if each is listening:
                    client = listening.accept()[0]
                    if open_.is_set():
                        there = socket.create_connection(server)
                        pairs |= {client: there, there: client}
                    else:
                        client.close()
                elif each in pairs:
                    _passed(each, pairs)
            if not open_.is_set():
                for each in list(pairs):
                    _ended(each, pairs)
        for each in list(pairs):
            _ended(each, pairs)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
        yield urlunsplit(parts._replace(netloc=user + host)), open_
    finally:
        alive.clear()
        thread.join()
        listening.close()


def _passed(each: socket.socket, pairs: dict[socket.socket, socket.socket]) -> None:
    try:
        data = each.recv(65536)
    except OSError:
        data = b""
    if data:
        pairs[each].sendall(data)
    else:
        _ended(each, pairs)


def _ended(each: socket.socket, pairs: dict[socket.socket, socket.socket]) -> None:
    other = pairs.pop(each, None)
    each.close()
    if other is not None:
        pairs.pop(other, None)
        other.close()
