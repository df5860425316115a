"""`partywall watch`: look for leaks in production."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ...online import Follower
    from ...plan.identity import RawPath

app = typer.Typer(help="Look for leaks in production, out of the path of what it serves.", no_args_is_help=True)


@app.command("follow")
def follow(
    file: Annotated[Path, typer.Argument(help="The log: JSON lines, or text with --text.")],
    findings: Annotated[Path, typer.Option(help="Where findings go, one JSON line each.")] = Path("findings.jsonl"),
    once: Annotated[bool, typer.Option("--once", help="Read to the end and stop.")] = False,
    fields: Annotated[str, typer.Option(help="Where ids stand: tenant=org.id,user=uid|user_id,…")] = "",
    own_input: Annotated[
        str, typer.Option(help="Fields that hold what the viewer put in itself.")
    ] = "input,user_input,messages[role=user]",
    observer: Annotated[str, typer.Option(help="Whose a record is that names no tenant: tenant=…,user=…")] = "",
    text: Annotated[bool, typer.Option("--text", help="Lines are text, all of them the observer's.")] = False,
    rate: Annotated[float, typer.Option(help="Share of sessions that are looked at deeply.")] = 0.001,
    epoch: Annotated[str, typer.Option(help="Epochs of the key, separated by commas: current and previous.")] = "0",
    key_file: Annotated[Path | None, typer.Option(help="File with the key; else PARTYWALL_KEY.")] = None,
    max_line: Annotated[int, typer.Option(help="Bytes of a line that are parsed; longer ones are only scanned.")] = 1
    << 20,
    names: Annotated[bool, typer.Option("--names", help="Write ids into findings, not their hashes.")] = False,
    from_start: Annotated[bool, typer.Option("--from-start", help="Forget where the log was left.")] = False,
    metrics_port: Annotated[int, typer.Option(help="Show Prometheus metrics on this port; 0: do not.")] = 0,
) -> int:
    """Follow a log; print the claim of every finding, and store it before the place in the log is remembered.

    Exit code of --once, or when stopped: 1 a leak was found, 0 none although canaries flowed, 4 nothing was proved.
    """
    from partywall.canaries import UsageError

    from ...online import Fields, Follower, Log, Settings
    from ...report.escape import one_line
    from ..deployment_key import read_key
    from ..scanning import observer_of

    otherwise: RawPath = observer_of(observer)[0] if observer else (None, None, None, None)
    if text and not observer:
        raise UsageError("--text needs --observer: a line of text does not say whose it is")
    if max_line < 1024:
        raise UsageError(f"--max-line must be at least 1024 bytes, got {max_line}")
    epochs = tuple(name.strip() for name in epoch.split(",") if name.strip())
    settings = Settings(read_key(key_file), epochs, rate=rate, budget=1.0, names=names)
    log = Log(file, findings, Fields.parse(fields, own_input, otherwise), text, max_line, from_start)
    follower = Follower(log, settings, lambda one: typer.echo(one_line(str(one["claim"]))))
    if metrics_port:
        _show(follower, metrics_port)
    began = follower.offset
    if once:
        follower.once()
    else:
        _until_told(follower)
    return _ended(follower, str(file), began)


def _until_told(follower: Follower) -> None:
    """Follow until a signal to end comes: a batch that has begun is finished and stored."""
    import signal
    import threading

    stop = threading.Event()

    def told(*_: Any) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, told)
    follower.forever(stop.is_set, stop.wait)


def _show(follower: Follower, port: int) -> None:
    from partywall.canaries import UsageError
    from prometheus_client import CollectorRegistry, start_http_server

    from ...online import Metrics

    registry = CollectorRegistry()
    Metrics("follow", follower).register(registry)
    try:
        start_http_server(port, registry=registry)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot show metrics on port {port}: {error}") from error


def _ended(follower: Follower, name: str, began: int) -> int:
    from ...exits import Exit
    from ...judge.verdict import Status
    from ...report.escape import one_line

    tally = follower.total
    for line in follower.summary(name, began):
        typer.echo(one_line(line), err=True)
    follower.close()
    if tally.violations.total():
        return int(Exit.VIOLATED)
    return int(Exit.HELD if tally.verdict().status is Status.HELD else Exit.INCONCLUSIVE)
