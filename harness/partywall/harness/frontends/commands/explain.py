"""`partywall explain`: what a finding code means, why it happens, what to do; works offline."""

from __future__ import annotations

from typing import Annotated

import typer


def explain(code: Annotated[str, typer.Argument(help="A finding code, as PW101.")]) -> int:
    """Explain a finding code."""
    from ...catalogue import code as look_up

    found = look_up(code)
    typer.echo(f"{found.id}  {found.title}  ({found.guarantee})\n")
    typer.echo(found.meaning + "\n")
    typer.echo("How it comes about:")
    for cause in found.causes:
        typer.echo(f"  - {cause}")
    typer.echo(f"\nWhat to do: {found.remedy}")
    return 0
