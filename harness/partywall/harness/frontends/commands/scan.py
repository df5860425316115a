"""`partywall scan`: look for canaries in files, folders or standard input."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def scan(
    paths: Annotated[list[str] | None, typer.Argument(help="Files and folders; - or nothing: standard input.")] = None,
    observer: Annotated[str, typer.Option(help="Whose place this is: tenant=…,user=…,session=…,task=…")] = "",
    level: Annotated[str, typer.Option(help="S0, S1, S2 or S3: how deep to look.")] = "S2",
    epoch: Annotated[str, typer.Option(help="Epochs of the key, separated by commas: current and previous.")] = "0",
    key_file: Annotated[Path | None, typer.Option(help="File with the key; else PARTYWALL_KEY.")] = None,
) -> int:
    """Print one JSON line a canary; exit 1 where one is foreign to the observer.

    A line holds path, start, end (bytes), level, decoded, canary (a short id, never the canary), kind, seq, epoch,
    and with an observer also foreign and boundary.
    """
    from partywall.canaries import Keyring, Scanner, UsageError

    from ...report.escape import one_line
    from ..deployment_key import read_key
    from ..scanning import Scanning, observer_of

    key = read_key(key_file)
    epochs = [name.strip() for name in epoch.split(",") if name.strip()]
    if not epochs:
        raise UsageError(f"--epoch {epoch!r} names no epoch, and without a key nothing is seen")
    scanner = Scanner([Keyring.derive(key, name) for name in epochs], level=level.upper())
    scanning = Scanning(scanner, observer_of(observer) if observer else None)
    for path in paths or ["-"]:
        for line in scanning.path(path):
            typer.echo(line)
    for line in scanning.summary():
        typer.echo(one_line(line), err=True)
    return scanning.exit_code
