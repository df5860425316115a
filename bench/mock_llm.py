"""The mock LLM against uvicorn and a raw ASGI app, in the same run: it must not be a load test's bottleneck.

Both answer the same bytes: a plain reply, and a stream of 50 events. uvicorn's app has its bytes ready; the
mock reads the prompt, makes its reply and keeps the exchange in the wiretap. Server and client have a core
each; the rounds of the two alternate, and the median of the rounds' ratios counts. A rate is answers per second
of the server's own processor time, where the system tells it, so that a busy machine weighs on neither; no two
prompts are the same. Exit code 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import uvicorn
from partywall.harness.mock_llm import MockLLM
from partywall.harness.mock_llm.codecs import chat
from partywall.harness.mock_llm.decision import Decisions
from partywall.harness.mock_llm.reply import reply

BARS = {"plain": 2.0, "stream": 2.5}
EVENTS = 50
CONNECTIONS = 16

Message = MutableMapping[str, Any]


def body(mode: str) -> bytes:
    """A small prompt; the streamed one makes a reply of EVENTS events (role, words, finish, `[DONE]`)."""
    words = " ".join(f"w{n}" for n in range(EVENTS - 3 - 3))
    question = "what is my name?" if mode == "plain" else words
    messages = [{"role": "system", "content": "You are terse."}, {"role": "user", "content": question}]
    return json.dumps({"model": "mock", "messages": messages, "stream": mode == "stream"}).encode()


async def app(scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Any]) -> None:
    """The raw ASGI app: reads the body, sends bytes that were ready beforehand."""
    more = True
    while more:
        more = (await receive()).get("more_body", False)
    media, parts = _ANSWERS[scope["path"]]
    headers = [(b"content-type", media), (b"x-request-id", b"req_" + b"0" * 32)]
    if len(parts) == 1:
        headers.append((b"content-length", b"%d" % len(parts[0])))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for part in parts[:-1]:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": parts[-1]})


def answers() -> dict[str, tuple[bytes, list[bytes]]]:
    """(media type, parts) by path: what the mock would say, made once."""
    found = {}
    for mode in BARS:
        request = body(mode)
        prompt = chat.read(json.loads(request))
        turn = reply(prompt, Decisions(0).draw("-", "reply", request))
        document = chat.stream(turn, prompt) if prompt.stream else chat.whole(turn)
        parts = [document.body] if document.events is None else list(document.events)
        found[f"/{mode}"] = (document.media_type.encode(), parts)
    return found


_ANSWERS = answers()


_numbers = count()


@dataclass(frozen=True, slots=True)
class Server:
    """A server's process and port."""

    process: subprocess.Popen[str]
    port: int

    def busy(self) -> float:
        """Seconds that the server has been on a processor; 0 where the system does not tell."""
        with suppress(OSError):
            return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e9
        return 0.0


class Client(asyncio.Protocol):
    """One keep-alive connection that asks again as soon as it is answered."""

    def __init__(self, request: bytes, until: float) -> None:
        self._request = request  # with one hole for a number
        self._until = until
        self.answers = 0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request % next(_numbers))

    def data_received(self, data: bytes) -> None:
        # Both answers end in bytes that stand nowhere else in them.
        if data.endswith((b"}", b"\r\n0\r\n\r\n")):
            self.answers += 1
            if time.perf_counter() < self._until:
                self._transport.write(self._request % next(_numbers))
            else:
                self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.done.set_result(None)


async def load(server: Server, path: str, mode: str, seconds: float) -> tuple[float, float]:
    """Answers per second of wall time, and per second that the server was on a processor."""
    port = server.port
    data = body(mode).replace(b"terse", b"%08d")
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: application/json\r\n"
    head += "content-type: application/json\r\nauthorization: Bearer sk-bench\r\nuser-agent: bench\r\n"
    request = f"{head}content-length: {len(data) + 4}\r\n\r\n".encode() + data
    loop, start, busy = asyncio.get_running_loop(), time.perf_counter(), server.busy()
    clients = [Client(request, start + seconds) for _ in range(CONNECTIONS)]
    for client in clients:
        await loop.create_connection(partial(_same, client), "127.0.0.1", port)
    for client in clients:
        await client.done
    wall = time.perf_counter() - start
    answers = sum(client.answers for client in clients)
    return answers / wall, answers / (server.busy() - busy or wall)


def _same(client: Client) -> Client:
    return client


def run(rounds: int, seconds: float) -> dict[str, float]:
    """The median ratio by mode."""
    servers = {name: _start(name) for name in ("mock", "uvicorn")}
    pin(1)
    ratios: dict[str, list[float]] = {mode: [] for mode in BARS}
    try:
        for number in range(rounds + 1):
            for mode in BARS:
                theirs, their_rate = asyncio.run(load(servers["uvicorn"], f"/{mode}", mode, seconds))
                ours, our_rate = asyncio.run(load(servers["mock"], "/v1/chat/completions", mode, seconds))
                if number:  # the first round warms up
                    ratios[mode].append(our_rate / their_rate)
                    wall = f"{ours:,.0f} to {theirs:,.0f} answers/s of wall time"
                    print(f"  {mode}: {our_rate:,.0f} to {their_rate:,.0f} answers/s, {wall}", file=sys.stderr)
    finally:
        for server in servers.values():
            server.process.terminate()
            server.process.wait()
    return {mode: statistics.median(found) for mode, found in ratios.items()}


def pin(core: int) -> None:
    """Keep this process on one core, where there are several to share out."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[core]})


def _start(name: str) -> Server:
    command = [sys.executable, __file__, "--serve", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return Server(process, int(process.stdout.readline()))


async def _serve_mock() -> None:
    async with MockLLM() as mock:
        print(mock.port, flush=True)
        await asyncio.Event().wait()


def _serve_uvicorn() -> None:
    config = uvicorn.Config(
        app, port=0, http="httptools", loop="asyncio", lifespan="off", access_log=False, log_level="critical"
    )
    asyncio.run(_serve_and_tell(uvicorn.Server(config)))


async def _serve_and_tell(server: uvicorn.Server) -> None:
    # uvicorn must open its port itself: sockets handed in get no TCP_NODELAY, and delayed ACKs would then
    # hold it to 25 answers a second on each connection.
    serving = asyncio.ensure_future(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await serving


def main() -> int:
    """Run and print a line a mode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", choices=("mock", "uvicorn"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    if options.serve:
        pin(0)
        if options.serve == "mock":
            asyncio.run(_serve_mock())
        else:
            _serve_uvicorn()
        return 0
    ratios = run(options.rounds, options.seconds)
    for mode, ratio in ratios.items():
        verdict = "ok" if ratio >= BARS[mode] else "MISSED"
        print(f"mock-llm {mode} / uvicorn {ratio:.1f} (bar ≥ {BARS[mode]}) {verdict}")
    return 0 if all(ratio >= BARS[mode] for mode, ratio in ratios.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
