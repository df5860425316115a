"""Versions of the schema: what each one changed, and what is refused."""

from __future__ import annotations

from partywall.canaries import UsageError

FIRST = 1
"""The schema of before versions were recorded: memories numbered over all tenants at once."""
VERSION = 2
"""What the tables describe now: memories are numbered by owner and carry their vector; sessions know their head, their
end and the highest lease that wrote to them."""


def refuse_newer(found: int, where: str) -> None:
    """Raises UsageError for a database that a newer program has written: this one would not understand its rows."""
    if found > VERSION:
        raise UsageError(f"{where} has schema version {found}, and this program knows up to {VERSION}: use a newer one")
