"""`partywall lint-keys`: keys built by hand in source text, without running it."""

from __future__ import annotations

from typing import Annotated

import typer


def lint_keys(
    paths: Annotated[list[str], typer.Argument(help="Python files, and folders that hold some.")],
    maker: Annotated[
        list[str] | None, typer.Option(help="A function or class of yours that makes keys of a scope; repeatable.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Glob of files and folders to leave out; repeatable.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="text, json or github (workflow annotations).")] = "text",
) -> int:
    """Report cache, lock, Redis and rate-limit keys, and paths, that no scope object made. Exit 1 where there is one.

    Settings stand in pyproject.toml: [tool.partywall.lint-keys] makers, exclude.
    """
    from pathlib import Path

    from ...errors import unknown
    from ...exits import Exit
    from ...lint_keys import FORMATS, check_paths, settings_for

    if form not in FORMATS:
        raise unknown("format", form, FORMATS)
    settings = settings_for(Path(paths[0]))
    report = check_paths(paths, (*settings.makers, *(maker or ())), (*settings.exclude, *(exclude or ())))
    for line in FORMATS[form](report):
        typer.echo(line)
    # what was not read was not looked at: that outweighs what was found elsewhere, as in every command
    return int(Exit.USAGE if report.unread else Exit.VIOLATED if report.findings else Exit.HELD)
