"""What it costs to purge one tenant, beside neighbours who stay: a table of seconds, a line for each layout.

Deleting row by row grows with the rows, and with everybody's index; dropping a file or partitions hardly does.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from partywall.canaries import Level, Scope
from partywall.reference_impl.parts import System, compose
from partywall.reference_impl.settings import Settings
from partywall.reference_impl.store.database import Connection

LAYOUTS = ("sqlite", "sqlite-per-tenant", "postgres")
URL = "PARTYWALL_POSTGRES_URL"
SIZES = (100, 1_000, 10_000, 100_000)
AT_ONCE = 100
KEY = "a key for a benchmark, long enough to sign with"


def url() -> str | None:
    """The URL of a server; None where there is none to measure."""
    return os.environ.get(URL) or os.environ.get("PARTYWALL_TEST_POSTGRES_URL")


@contextmanager
def deployment(layout: str) -> Iterator[System]:
    """The reference on that store; nothing of it is left."""
    schema = f"pwb_{os.urandom(6).hex()}"
    with tempfile.TemporaryDirectory() as folder:
        served = {"postgres_url": url()} if layout == "postgres" else {}
        given = {"data": Path(folder), "model_url": "http://model.invalid/v1", "token_key": KEY, "store": layout}
        system = compose(Settings.model_validate({**given, **served, "store_schema": schema}))
        try:
            yield system
        finally:
            system.cache.close()
            system.database.close()
            if served:
                from partywall.reference_impl.store.postgres import discard

                discard(str(served["postgres_url"]), schema)


async def sow(system: System, tenant: str, turns: int) -> None:
    """A tenant with that many turns in one session, and a memory for every hundred of them."""
    scope = Scope(tenant, "ann", "s1", "k1")
    await system.sessions.create(scope)

    def job(db: Connection) -> None:
        for first in range(1, turns + 1, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, turns + 1))
            rows = [(*scope.path, number, "user", f"turn {number} " + "and some words " * 8, 1.0) for number in numbers]
            places = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
            insert = f'INSERT INTO turns (tenant, "user", session, task, turn, role, text, at) VALUES {places}'
            db.execute(insert, [value for row in rows for value in row])

    await system.database.write(tenant, job)
    for number in range(turns // 100):
        await system.memories.add(scope, f"memory {number} of a red balloon, and some words more")


async def seconds(system: System, rows: int, neighbours: int, rounds: int) -> float:
    """The median time of purging a tenant of `rows` turns beside `neighbours` of as many rows in all."""
    for number in range(neighbours):
        await sow(system, f"neighbour-{number}", rows)
    taken = []
    for number in range(rounds):
        await sow(system, f"purged-{number}", rows)
        begun = time.perf_counter()
        await system.purge.run(Scope(f"purged-{number}", "ann"), Level.TENANT)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def main() -> int:
    """Print the table; 1 where what was purged is still there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000, help=f"rows of a tenant at most, of {SIZES}")
    parser.add_argument("--neighbours", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    sizes = [size for size in SIZES if size <= given.most]
    print(f"purge of one tenant beside {given.neighbours} of its size, milliseconds (median of {given.rounds})")
    print(f"{'layout':<20}" + "".join(f"{size:>9,} rows" for size in sizes) + "   growth")
    for layout in LAYOUTS:
        if layout == "postgres" and not url():
            print(f"{layout:<20} skipped: {URL} names no server")
            continue
        found = []
        for size in sizes:
            with deployment(layout) as system:
                found.append(asyncio.run(seconds(system, size, given.neighbours, given.rounds)))
                if asyncio.run(left(system)):
                    print(f"{layout}: something of a purged tenant is left", file=sys.stderr)
                    return 1
        line = "".join(f"{1000 * each:>14.1f}" for each in found)
        print(f"{layout:<20}{line}   ×{found[-1] / found[0]:.1f}", flush=True)
    return 0


async def left(system: System) -> bool:
    """Whether anything of a purged tenant is at rest."""
    tables = (system.sessions, system.facts, system.memories, system.artifact_table)
    reports = [await table.at_rest() for table in tables]
    return any("purged-" in text for report in reports for text in report.contents)


if __name__ == "__main__":
    sys.exit(main())
