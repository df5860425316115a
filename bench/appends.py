"""What an append costs, locked, compared and deduplicated, beside bare inserts and beside two libraries' sessions.

And whether it costs the same late as early, and beside 10,000 sessions as beside 10.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from partywall.canaries import Scope
from partywall.reference_impl.append import Draft
from partywall.reference_impl.parts import System, compose
from partywall.reference_impl.settings import Settings

WRITERS, APPENDS, ROUNDS = 16, 25, 5
"""Writers, each on a session of its own; appends of each; rounds, of which the median counts."""
TEXT = "x" * 200
BAR = 0.5
FLAT = 1.3
"""Most that a turn may cost late, or in a crowd, beside what it costs early and alone: noise included."""


def bare(folder: Path) -> float:
    """Appends per second of 16 threads, each with a connection of its own: BEGIN, one INSERT, COMMIT."""
    path = folder / f"bare-{time.monotonic_ns()}.db"

    def connect() -> sqlite3.Connection:
        db = sqlite3.connect(path, isolation_level=None, timeout=30)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        return db

    first = connect()
    first.execute("CREATE TABLE turns (session TEXT, turn INTEGER, text TEXT, PRIMARY KEY (session, turn))")

    def write(number: int) -> None:
        db = connect()
        start.wait()
        for turn in range(APPENDS):
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO turns VALUES (?, ?, ?)", (f"s{number}", turn, TEXT))
            db.execute("COMMIT")
        db.close()

    start = threading.Barrier(WRITERS + 1)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    start.wait()
    begun = time.perf_counter()
    for writer in writers:
        writer.join()
    rate = WRITERS * APPENDS / (time.perf_counter() - begun)
    (count,) = first.execute("SELECT COUNT(*) FROM turns").fetchone()
    first.close()
    assert count == WRITERS * APPENDS
    return rate


async def paced(append: Callable[[int, int], Awaitable[Any]]) -> float:
    """Acknowledged appends per second of 16 tasks, each on a session of its own."""

    async def write(number: int) -> None:
        for turn in range(APPENDS):
            await append(number, turn)

    begun = time.perf_counter()
    await asyncio.gather(*(write(number) for number in range(WRITERS)))
    return WRITERS * APPENDS / (time.perf_counter() - begun)


def deployment(folder: Path) -> System:
    """The reference with a session of nobody's model."""
    settings = {"data": folder, "model_url": "http://model.invalid/v1", "token_key": "k" * 32}
    return compose(Settings.model_validate(settings))


async def reference(folder: Path) -> float:
    """The agent's own append: session lock, compare-and-set, request id, turn, in one transaction."""
    system = deployment(folder / f"reference-{time.monotonic_ns()}")

    async def append(number: int, turn: int) -> None:
        scope = Scope("acme", "ann", f"s{number}", "k1")
        await system.agent.append(scope, Draft(TEXT, caller="ann", request_id=f"r{turn}"))

    rate = await paced(append)
    for number in range(WRITERS):
        assert len(await system.sessions.turns(Scope("acme", "ann", f"s{number}"))) == APPENDS
    await system.aclose()
    return rate


async def openai_agents(folder: Path) -> float:
    """`SQLiteSession.add_items`, one item a call."""
    from agents import SQLiteSession

    path = folder / f"agents-{time.monotonic_ns()}.db"
    sessions = [SQLiteSession(f"s{number}", path) for number in range(WRITERS)]

    async def append(number: int, turn: int) -> None:
        await sessions[number].add_items([{"role": "user", "content": TEXT}])

    rate = await paced(append)
    assert len(await sessions[0].get_items()) == APPENDS
    for session in sessions:
        session.close()
    return rate


async def langgraph(folder: Path) -> float:
    """One checkpoint of the whole thread an append, as a graph of one message list makes it."""
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    said: list[list[str]] = [[] for _ in range(WRITERS)]
    async with AsyncSqliteSaver.from_conn_string(str(folder / f"graph-{time.monotonic_ns()}.db")) as saver:
        await saver.setup()

        async def append(number: int, turn: int) -> None:
            said[number].append(TEXT)
            checkpoint = {**empty_checkpoint(), "channel_values": {"messages": list(said[number])}}
            config: Any = {"configurable": {"thread_id": f"s{number}", "checkpoint_ns": ""}}
            await saver.aput(config, checkpoint, {"source": "loop", "step": turn}, {})  # type: ignore[arg-type]

        rate = await paced(append)
        found = await saver.aget_tuple({"configurable": {"thread_id": "s0", "checkpoint_ns": ""}})
        assert found is not None
        assert len(found.checkpoint["channel_values"]["messages"]) == APPENDS
    return rate


async def late(folder: Path) -> tuple[float, float]:
    """Seconds of an append and the context after it: around turn 40, when the history is full, and around turn 155."""
    system = deployment(folder / "late")
    scope = Scope("acme", "ann", "s1", "k1")
    taken: list[float] = []
    for turn in range(170):
        begun = time.perf_counter()
        await system.agent.append(scope, Draft(TEXT, caller="ann", request_id=f"r{turn}"))
        await system.agent.recall(scope, "what?")
        taken.append(time.perf_counter() - begun)
    await system.aclose()
    return statistics.median(taken[25:55]), statistics.median(taken[-30:])


async def crowded(folder: Path, sessions: int) -> float:
    """Median seconds of an append and the context after it, in a store that holds that many sessions."""
    system = deployment(folder / f"crowd-{sessions}")
    limit = asyncio.Semaphore(256)

    async def fill(number: int) -> None:
        async with limit:
            scope = Scope("acme", f"user{number % 100}", f"other{number}", "k1")
            await system.agent.append(scope, Draft(TEXT))

    await asyncio.gather(*(fill(number) for number in range(sessions)))
    scope = Scope("acme", "ann", "s1", "k1")
    taken: list[float] = []
    for turn in range(60):
        begun = time.perf_counter()
        await system.agent.append(scope, Draft(TEXT, caller="ann", request_id=f"r{turn}"))
        await system.agent.recall(scope, "what?")
        taken.append(time.perf_counter() - begun)
    await system.aclose()
    return statistics.median(taken[10:])


def main() -> int:
    """0 where every bar was met."""
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rates: dict[str, list[float]] = {"bare inserts": [], "reference": [], "openai-agents": [], "langgraph": []}
        for _ in range(ROUNDS):
            rates["bare inserts"].append(bare(folder))
            rates["reference"].append(asyncio.run(reference(folder)))
            rates["openai-agents"].append(asyncio.run(openai_agents(folder)))
            rates["langgraph"].append(asyncio.run(langgraph(folder)))
        medians = {who: statistics.median(found) for who, found in rates.items()}
        ours = medians["reference"]
        for who, rate in medians.items():
            print(f"{who:14} {rate:8.0f} acknowledged appends/s, {WRITERS} writers on {WRITERS} sessions")
        for who, bar in (("bare inserts", BAR), ("openai-agents", 1.0), ("langgraph", 1.0)):
            ratio = ours / medians[who]
            met &= ratio >= bar
            print(f"reference beside {who}: {ratio:.2f} (bar ≥ {bar:.2f})")
        early, then = asyncio.run(late(folder))
        met &= then / early <= FLAT
        print(f"a turn around 155 beside one around 40: {then / early:.2f} (bar ≤ {FLAT:.2f})")
        few, many = asyncio.run(crowded(folder, 10)), asyncio.run(crowded(folder, 10_000))
        met &= many / few <= FLAT
        print(f"a turn beside 10,000 sessions and beside 10: {many / few:.2f} (bar ≤ {FLAT:.2f})")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
