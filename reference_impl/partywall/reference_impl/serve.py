"""Serving a deployment from the command line: arguments, one ready line, a clean end."""

from __future__ import annotations

import argparse
import asyncio
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import uvicorn
from partywall.canaries import UsageError

from .app import create_app
from .parts import Parts, compose
from .refusals import Refusal
from .settings import STORES, Settings, from_environment


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            print(f"ready http://{host}:{port}", flush=True)


def serve(arguments: Sequence[str], parts: Parts, program: str) -> int:
    """Serve until SIGTERM or SIGINT; 0 after a clean end, 2 for settings that are refused, 3 without its store."""
    try:
        system = compose(_settings(arguments, program), parts)
    except UsageError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except Refusal as refused:
        print(f"{program}: {refused.detail}", file=sys.stderr)
        return 3
    settings = system.settings
    config = uvicorn.Config(
        create_app(system),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    # Uvicorn raises the signal again once it has shut down: by then it must mean a clean end.
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    asyncio.run(_Server(config).serve())
    return 0


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _settings(arguments: Sequence[str], program: str) -> Settings:
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description="Serve the reference agent.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--data", type=Path, required=True, help="folder of everything at rest")
    parser.add_argument("--model-url", required=True, help="base URL that ends with /v1")
    parser.add_argument("--model-name", default="reference")
    parser.add_argument(
        "--objects-url", default="", help="object store that fsspec knows; a folder below --data without it"
    )
    parser.add_argument("--store", default="sqlite", help=f"one of {', '.join(STORES)}; URLs by environment")
    parser.add_argument("--store-schema", default="partywall", help="this deployment's share of a server")
    for name in (
        "model-timeout",
        "model-deadline",
        "lock-timeout",
        "idle-after",
        "lifetime",
        "archive-after",
        "task-after",
        "user-after",
        "sweep-every",
        "user-refill",
        "tenant-refill",
    ):
        parser.add_argument(f"--{name}", type=float, default=argparse.SUPPRESS, help="seconds")
    for name in (
        "model-retries",
        "max-turns",
        "condense-at",
        "history-turns",
        "recalled-memories",
        "user-burst",
        "tenant-burst",
    ):
        parser.add_argument(f"--{name}", type=int, default=argparse.SUPPRESS)
    parser.add_argument("--movable-clock", action="store_true", help="an operator may move the clock: for tests")
    return from_environment(vars(parser.parse_args(arguments)))
