"""Canaries of a few owners, and log lines that hold them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from partywall.canaries import Keyring, Mint, Scope
from partywall.harness.online import Checker, Settings

KEY = b"k" * 32
MINT = Mint(Keyring.derive(KEY, "0"))
ACME = Scope("acme", "ann", "s1")
ZETA = Scope("zeta", "bob", "s9")


def token(owner: Scope, seq: int = 0, kind: str = "message") -> str:
    """The canary of an owner."""
    return MINT.token(owner, kind, seq)


def line(owner: Scope = ACME, /, **fields: Any) -> bytes:
    """A record of `owner` as a log line, without its end."""
    ids = {"tenant": owner.tenant, "user": owner.user, "session": owner.session}
    return json.dumps(ids | fields).encode()


def log(path: Path, *lines: bytes) -> Path:
    """A log of these lines."""
    path.write_bytes(b"".join(one + b"\n" for one in lines))
    return path


def stored(path: Path) -> list[dict[str, Any]]:
    """The findings in a file."""
    return [json.loads(one) for one in path.read_text().splitlines()] if path.exists() else []


def checker(rate: float = 0.0, **more: Any) -> Checker:
    """A checker of these canaries."""
    return Checker(Settings(KEY, rate=rate, budget=1.0, **more), "test")
