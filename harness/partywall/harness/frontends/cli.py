"""The command `partywall`: parsing, one clear sentence for every error, the exit code."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from importlib.metadata import version

import typer
from partywall.canaries import PartywallError

from .commands import (
    demo,
    doctor,
    explain,
    judge,
    lint_keys,
    list_,
    load,
    mint,
    mock_llm,
    power,
    replay,
    scan,
    verify,
    watch,
)

# typer carries a click of its own in some versions and uses the package in others, so the base class is found by name
_OPTION_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(
    name="partywall",
    help="Proves that nothing passes between the tenants, users, sessions and tasks of an AI agent and its memory.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("verify")(verify.verify)
app.command("judge")(judge.judge)
app.command("load")(load.load)
app.command("doctor")(doctor.doctor)
app.command("demo")(demo.demo)
app.command("list")(list_.list_)
app.command("explain")(explain.explain)
app.command("replay")(replay.replay)
app.command("mint")(mint.mint)
app.command("mock-llm")(mock_llm.mock_llm)
app.command("scan")(scan.scan)
app.command("lint-keys")(lint_keys.lint_keys)
app.command("power")(power.power)
app.add_typer(watch.app, name="watch")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"partywall {version('partywall')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Entry point. Never shows a traceback, unless PARTYWALL_DEBUG is set."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # being told to end is no reason to leave children behind
    code = _run(sys.argv[1:])
    if any(not thread.daemon and thread is not threading.main_thread() for thread in threading.enumerate()):
        # an adapter's own thread that never ends would be waited for, and the verdict's exit code with it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    try:
        code = app(arguments, prog_name="partywall", standalone_mode=False)
        return int(code or 0)
    except typer.Exit as asked:
        return asked.exit_code
    except _OPTION_ERROR as error:
        return _told(f"{_message(error)} (partywall --help tells more)", 2)
    except PartywallError as error:
        from ..exits import exit_of_error

        return _told(str(error), exit_of_error(error))
    except (KeyboardInterrupt, typer.Abort):
        return _told("interrupted", 130)
    except SystemExit as asked:  # nothing of ours raises it: an exit code of somebody else's must not read as a verdict
        if isinstance(asked.__context__, OSError) and asked.__context__.errno == errno.EPIPE:
            return _nobody_reads()  # typer's way of telling it
        return _told(f"something asked the process to end with {asked.code!r}", 3)
    except BrokenPipeError:
        return _nobody_reads()
    except Exception as error:
        if os.environ.get("PARTYWALL_DEBUG"):
            raise
        return _told(f"the harness failed: {type(error).__name__}: {error}; PARTYWALL_DEBUG=1 shows where", 3)


def _nobody_reads() -> int:
    """The reader went away (`partywall list checks | head -1`): nothing is left to tell anyone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _message(error: Exception) -> str:
    told = getattr(error, "format_message", lambda: str(error))()
    return str(told).rstrip(".")


def _told(sentence: str, code: int) -> int:
    from ..report.escape import one_line

    print(f"error: {one_line(sentence)}", file=sys.stderr)
    return code
