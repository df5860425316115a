"""How much text each tenant has stored."""

from __future__ import annotations

from collections import Counter

from .database import Connection, Database

_TEXTS = (
    "SELECT tenant, text FROM turns",
    "SELECT tenant, value AS text FROM facts",
    "SELECT tenant, text FROM memories",
)


async def sizes(database: Database) -> dict[str, int]:
    """Bytes by tenant, of turns, facts, memories and artifacts: an operator's view."""
    total: Counter[str] = Counter()
    for tenant, size in await database.everywhere(_sizes):
        total[tenant] += size
    return dict(total)


def _sizes(db: Connection) -> list[tuple[str, int]]:
    found: Counter[str] = Counter()
    for statement in _TEXTS:
        for row in db.execute(statement):
            # Counted here: SQL's own length counts characters, and what counts bytes is named differently by each.
            found[row["tenant"]] += len(row["text"].encode("utf-8", "surrogatepass"))
    for row in db.execute("SELECT tenant, SUM(size) AS size FROM artifacts GROUP BY tenant"):
        found[row["tenant"]] += int(row["size"] or 0)
    return list(found.items())
