"""`partywall mint`: print one token."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def mint(
    tenant: Annotated[str, typer.Option(help="The owner's tenant.")],
    user: Annotated[str, typer.Option(help="The owner's user.")],
    session: Annotated[str, typer.Option(help="The owner's session.")] = "",
    task: Annotated[str, typer.Option(help="The owner's task.")] = "",
    kind: Annotated[str, typer.Option(help="What it will be put into.")] = "message",
    seq: Annotated[int, typer.Option(help="Which placement it is, 0 to 65535.")] = 0,
    epoch: Annotated[str, typer.Option(help="The epoch of the key.")] = "0",
    key_file: Annotated[Path | None, typer.Option(help="File with the key; else PARTYWALL_KEY.")] = None,
) -> int:
    """Print the token of one owner, and nothing else."""
    from partywall.canaries import Keyring, Mint, Scope

    from ..deployment_key import read_key

    keyring = Keyring.derive(read_key(key_file), epoch)
    typer.echo(Mint(keyring).token(Scope(tenant, user, session, task), int(kind) if kind.isdecimal() else kind, seq))
    return 0
