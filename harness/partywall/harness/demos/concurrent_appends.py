"""Concurrent appends: eight writers, one session, and no turn lost, doubled or out of number."""

from __future__ import annotations

import asyncio
import time

from partywall.canaries import Scope

from ..observe.outcome import Outcome
from ._demo import Account, Demo
from ._stage import Stage

SESSION = Scope("cedar", "ann", "s1", "k1")
WRITERS = 8
Flight = tuple[float, float, Outcome]


async def run(stage: Stage, account: Account) -> None:
    """Eight clients append at once; the session is read afterwards."""
    reference = await stage.reference()
    start = asyncio.Event()

    async def write(number: int) -> Flight:
        await start.wait()
        began = time.monotonic()
        outcome = await reference.ask(
            "append_turn", SESSION, client=f"writer {number}", text=f"turn of writer {number}"
        )
        return began, time.monotonic(), outcome

    writers = [asyncio.create_task(write(number)) for number in range(1, WRITERS + 1)]
    start.set()
    flights = await asyncio.gather(*writers)
    errors = [outcome for _, _, outcome in flights if outcome.status != "ok"]
    at_once = _most_at_once(flights)
    account.tell(f"{WRITERS} clients append to one session; up to {at_once} calls in flight at once")
    if at_once < 2:
        account.not_shown("concurrent appends: no two calls overlapped")
        return
    for outcome in errors:
        account.tell(f"  an append ended {outcome.status} ({outcome.code}: {outcome.reason[:120]})")
    turns = await reference.turns(SESSION)
    numbers = [turn.get("turn") for turn in turns]
    version = (await reference.value("session_info", SESSION))["version"]
    account.measure(
        f"{len(turns)} turns, version {version}, numbers {_range(numbers)}, {len(errors)} errors",
        f"{WRITERS} turns, version {WRITERS}, numbers 1..{WRITERS}, 0 errors",
    )
    texts = sorted(turn["text"] for turn in turns)
    wanted = [f"turn of writer {number}" for number in range(1, WRITERS + 1)]
    account.claim("each writer's turn stands there once", texts == wanted, texts)
    told = [outcome.value["turn"] for _, _, outcome in flights if outcome.status == "ok" and outcome.value]
    account.claim(
        "each writer was told a number of its own",
        sorted(told) == sorted(set(told)) and len(told) == WRITERS,
        sorted(told),
    )


def _most_at_once(flights: list[Flight]) -> int:
    """The largest number of calls that were open at one instant."""
    return max(sum(began <= start < ended for began, ended, _ in flights) for start, _, _ in flights)


def _range(numbers: list[object]) -> str:
    whole = list(range(1, len(numbers) + 1))
    return f"1..{len(numbers)}" if numbers == whole and numbers else ", ".join(map(str, numbers)) or "none"


DEMO = Demo(id="concurrent_appends", number=3, title="concurrent appends", run=run)
