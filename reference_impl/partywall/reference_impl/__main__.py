"""`python -m partywall.reference_impl`: serve the reference agent, or one of its mutants."""

from __future__ import annotations

import argparse
import asyncio
import signal
import socket
import sys
from pathlib import Path
from types import FrameType

import uvicorn
from partywall.canaries import UsageError

from .app import create_app
from .mutants import build_parts
from .parts import compose
from .settings import Settings, from_environment


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            print(f"ready http://{host}:{port}", flush=True)


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; 0 after a clean end, 2 for settings that are refused."""
    try:
        settings = _settings(argv)
        system = compose(settings, build_parts(settings.mutant))
    except UsageError as error:
        print(f"partywall.reference_impl: {error}", file=sys.stderr)
        return 2
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


def _settings(argv: list[str] | None) -> Settings:
    parser = argparse.ArgumentParser(prog="python -m partywall.reference_impl", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--data", type=Path, required=True, help="folder of everything at rest")
    parser.add_argument("--model-url", required=True, help="base URL that ends with /v1")
    parser.add_argument("--model-name", default="reference")
    parser.add_argument("--mutant", default=None, help="id of a seeded fault, such as M12")
    for name in (
        "model-timeout",
        "model-deadline",
        "lock-timeout",
        "idle-after",
        "lifetime",
        "archive-after",
    ):
        parser.add_argument(f"--{name}", type=float, default=argparse.SUPPRESS, help="seconds")
    for name in ("model-retries", "max-turns", "history-turns", "recalled-memories"):
        parser.add_argument(f"--{name}", type=int, default=argparse.SUPPRESS)
    return from_environment(vars(parser.parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main())
