"""The ASGI middleware against the same app without it, in the same process: a reply of 1 KB over real sockets.

One uvicorn process serves a FastAPI app twice, bare and watched: every watched reply is copied, attributed and scanned,
by the checking process while requests go on. (Two processes of the very same app differed by a tenth, so one it is.)
One client asks, one request after the other, in short blocks: bare, watched, bare again, or watched, bare, bare, or
bare, bare, watched, in turn, so that no kind always comes first. A block is longer than the worker's interval, so that
what is handed over falls into it, and the rest is waited for.

What counts is the block's median latency, p50, where the machine was quiet: the lowest tenth of all blocks of a kind,
watched to bare. Beside it stand the control, which is the same of the two bare blocks, the app against itself; the
standard error by bootstrap; and the median over all rounds, noise included. Where the control or the error is larger
than what the bar allows, the machine is too busy for a verdict, and the bar counts as missed. Without a bar: the
processor time of the serving process, its handing over included, per request; the same over a raw ASGI app, which does
nothing; and the microseconds that wrapping one call costs. Exit code 1 where the bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from partywall.harness.online import Middleware, PartywallMiddleware, Settings

BAR = 1.03
CHECKED = 0.95
"""What is dropped costs nothing: so much must have been checked."""
KEY = b"b" * 32
SETTLE = 0.2
"""Seconds after a block: longer than the worker takes between two looks at its queue."""
_WORDS = "Your order of 12 March has been sent and should arrive on Thursday; the invoice is in your account. "
REPLY = {"reply": (_WORDS * 12)[:960], "turn": 7, "session": "s-0001"}
BODY = json.dumps({"text": "where is my order?"}).encode()
REQUEST = (
    b"POST /turn?bare HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nx-tenant-id: acme\r\n"
    b"x-user-id: ann\r\nx-session-id: s-0001\r\nx-request-id: r-1\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)
)
WATCHED = REQUEST.replace(b"?bare", b"?watched")
SPENT = b"GET /turn?spent HTTP/1.1\r\nhost: bench\r\n\r\n"
ORDERS = ((REQUEST, WATCHED, REQUEST), (WATCHED, REQUEST, REQUEST), (REQUEST, REQUEST, WATCHED))


async def raw(scope: Any, receive: Any, send: Any) -> None:
    """An app that reads and answers, and nothing else."""
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(_RAW))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": _RAW})


_RAW = json.dumps(REPLY).encode()


def framework() -> Any:
    """The smallest app as people write them."""
    app = FastAPI()

    @app.post("/turn")
    async def turn(asked: dict[str, str]) -> dict[str, Any]:
        return REPLY

    return app


def watched(app: Any, folder: str) -> Any:
    """The app with the middleware around it, every reply checked."""
    findings = Path(folder) / f"findings-{os.getpid()}.jsonl"
    return PartywallMiddleware(app, Middleware(Settings(KEY), findings))


class Server:
    """A server process and one keep-alive connection to it."""

    def __init__(self, kind: str, folder: str) -> None:
        command = [sys.executable, __file__, "--serve", kind, "--folder", folder]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        port = int(self.process.stdout.readline())
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def block(self, request: bytes, requests: int) -> tuple[float, float]:
        """So many requests, one after the other: their median latency, and the processor time that the server spent
        on each until all was handed over; both in microseconds."""
        took = []
        spent = -float(json.loads(self.ask(SPENT))["spent"])
        for _ in range(requests):
            began = time.perf_counter()
            self.ask(request)
            took.append(time.perf_counter() - began)
        time.sleep(SETTLE)
        spent += float(json.loads(self.ask(SPENT))["spent"])
        return statistics.median(took) * 1e6, spent / requests * 1e6

    def ask(self, request: bytes) -> bytes:
        """The body of the answer to one request."""
        self.socket.sendall(request)
        answer = b""
        while not answer.endswith(b"}"):
            answer += self.socket.recv(65536)
        return answer.partition(b"\r\n\r\n")[2]

    def close(self) -> None:
        """End it."""
        self.socket.close()
        self.process.terminate()
        self.process.wait()


@dataclass(frozen=True)
class Compared:
    """Rounds of (bare, bare, watched) compared where they were quiet; `median` is over all rounds."""

    bare: float
    ratio: float
    control: float
    error: float
    median: float

    @property
    def noise(self) -> float:
        """What the machine alone makes of the ratio."""
        return max(abs(self.control - 1), self.error)

    def __str__(self) -> str:
        return (
            f"{self.ratio:.3f} (bare {self.bare:.0f} µs, bare / bare {self.control:.3f}, error {self.error:.3f}, "
            f"median of all rounds {self.median:.3f})"
        )


def compare(kind: str, rounds: int, requests: int) -> tuple[Compared, Compared, float]:
    """Latency and processor time, watched to bare, and the share of watched replies that was checked in the end."""
    seen: list[list[tuple[float, float]]] = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(kind, folder)
        try:
            pin(1)
            for number in range(rounds + 3):
                order = ORDERS[number % len(ORDERS)]
                blocks = [(request, server.block(request, requests)) for request in order]
                if number > 2:  # the first ones warm up
                    bare = [block for request, block in blocks if request is REQUEST]
                    ours = [block for request, block in blocks if request is WATCHED]
                    seen.append([*bare, *ours])
            time.sleep(1)
            told = json.loads(server.ask(SPENT))
        finally:
            server.close()
    latency, spent = (compared([tuple(block[which] for block in each) for each in seen]) for which in (0, 1))
    share = told["seen"] / (requests * (rounds + 3))
    print(f"  {kind}: {share:.1%} of the watched replies checked, {told['dropped']} dropped", file=sys.stderr)
    return latency, spent, share


def compared(rounds: list[tuple[float, ...]]) -> Compared:
    """Of rounds of (bare, bare, watched)."""
    draw = random.Random(1)
    again = [ratio_of(draw.choices(rounds, k=len(rounds))) for _ in range(500)]
    first, second, _ = (quiet(kind) for kind in zip(*rounds, strict=True))
    return Compared(
        quiet([bare for each in rounds for bare in each[:2]]),
        ratio_of(rounds),
        second / first,
        statistics.stdev(again),
        statistics.median(2 * ours / (first + second) for first, second, ours in rounds),
    )


def ratio_of(rounds: list[tuple[float, ...]]) -> float:
    """Watched to bare, where both were quiet."""
    return quiet([ours for *_, ours in rounds]) / quiet([bare for each in rounds for bare in each[:2]])


def quiet(blocks: Sequence[float]) -> float:
    """The lowest tenth ends here."""
    return statistics.quantiles(blocks, n=10)[0]


def wrapping(calls: int = 20_000) -> float:
    """Microseconds that the wrapped call takes longer in its own path, without a socket."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/turn",
        "query_string": b"",
        "headers": [(b"x-tenant-id", b"a")],
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": BODY}

    async def send(message: Any) -> None:
        return None

    async def best(app: Any) -> float:
        fastest = float("inf")
        for _ in range(5):
            began = time.thread_time()
            for _ in range(calls // 5):
                await app(scope, receive, send)
            fastest = min(fastest, (time.thread_time() - began) / (calls // 5))
        return fastest * 1e6

    with tempfile.TemporaryDirectory() as folder:
        ours = watched(raw, folder)
        ours.worker.wake = lambda: None  # the path alone: no thread beside it
        return asyncio.run(best(ours)) - asyncio.run(best(raw))


def pin(core: int) -> None:
    """Keep this process on one core, where there are several to share out."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[core]})


def serve(kind: str, folder: str) -> None:
    """Serve until ended; the port goes to standard output."""
    pin(0)
    bare = framework() if kind == "fastapi" else raw
    ours = watched(bare, folder)

    async def either(scope: Any, receive: Any, send: Any) -> None:
        if scope["query_string"] == b"spent":
            told = {"spent": time.process_time(), "seen": ours.total.seen, "dropped": ours.total.skipped["dropped"]}
            spent = json.dumps(told).encode()
            length = [(b"content-length", b"%d" % len(spent))]
            await send({"type": "http.response.start", "status": 200, "headers": length})
            await send({"type": "http.response.body", "body": spent})
            return
        await (ours if scope["query_string"] == b"watched" else bare)(scope, receive, send)

    config = uvicorn.Config(
        either, port=0, http="httptools", loop="asyncio", access_log=False, log_level="critical", lifespan="off"
    )
    server = uvicorn.Server(config)

    async def told() -> None:
        serving = asyncio.ensure_future(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        print(server.servers[0].sockets[0].getsockname()[1], flush=True)
        await serving

    asyncio.run(told())


def main() -> int:
    """Runs all comparisons; 0 where the bar held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", default="")
    parser.add_argument("--folder", default="")
    parser.add_argument("--rounds", type=int, default=90)
    parser.add_argument("--requests", type=int, default=300)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.folder)
        return 0
    print(f"middleware around a raw ASGI call, without a socket: +{wrapping():.1f} µs")
    latency, spent, _ = compare("raw", options.rounds // 2, options.requests)
    print(f"middleware / none, p50 of a raw ASGI app's 1 KB reply: {latency}")
    print(f"middleware / none, processor time of the same: {spent}")
    latency, spent, share = compare("fastapi", options.rounds, options.requests)
    held, still = latency.ratio <= BAR and share >= CHECKED, latency.noise <= BAR - 1
    verdict = "ok" if held and still else "MISSED" if still else "MISSED: too noisy for a verdict"
    print(f"middleware / none, processor time of a FastAPI 1 KB reply: {spent}")
    print(f"middleware / none, p50 of a FastAPI 1 KB reply: {latency}, bar ≤ {BAR}: {verdict}")
    return 0 if held and still else 1


if __name__ == "__main__":
    sys.exit(main())
