"""Retried request: what a double click, a gateway or a time-out delivers twice is written once."""

from __future__ import annotations

import asyncio

from partywall.canaries import Scope

from ._demo import Account, Demo, counted
from ._stage import Stage

SESSION = Scope("elm", "ann", "s1", "k1")
NEIGHBOUR = Scope("fern", "ann", "s1", "k1")
REQUEST = "req-1"
TEXT = "Please cancel order E-5001."


async def run(stage: Stage, account: Account) -> None:
    """One request is delivered twice; then its id comes with another body, at once, and from another tenant."""
    reference = await stage.reference()

    async def deliver(scope: Scope, text: str, request: str = REQUEST, client: str = "") -> str:
        outcome = await reference.ask("append_turn", scope, client=client, request_id=request, text=text)
        return f"turn {outcome.value['turn']}" if outcome.status == "ok" and outcome.value else outcome.code

    account.tell(f"request {REQUEST!r} is delivered twice, one after the other")
    told = [await deliver(SESSION, TEXT), await deliver(SESSION, TEXT)]
    account.measure(f"{_told(told)}, {counted(len(await reference.texts(SESSION)), 'turn')}", "turn 1 twice, 1 turn")
    other = await deliver(SESSION, "Please cancel every order.")
    texts = await reference.texts(SESSION)
    account.claim(
        f"the same id with another body is answered {other!r}, and the other body is not stored",
        other in ("conflict", "turn 1") and texts == [TEXT],
        texts,
    )
    account.tell("request 'req-2' is delivered twice at the same time")
    both = await asyncio.gather(*(deliver(SESSION, "And E-5002.", "req-2", client) for client in ("one", "two")))
    account.measure(f"{_told(both)}, {counted(len(await reference.texts(SESSION)), 'turn')}", "turn 2 twice, 2 turns")
    theirs = await deliver(NEIGHBOUR, TEXT)
    texts = await reference.texts(NEIGHBOUR)
    account.claim(
        f"the same id from {NEIGHBOUR.tenant} is a request of its own: {theirs} of its own session",
        theirs == "turn 1" and texts == [TEXT],
        texts,
    )


def _told(told: list[str]) -> str:
    return f"{told[0]} twice" if len(set(told)) == 1 else " and ".join(told)


DEMO = Demo(id="retried_request", number=5, title="retried request", run=run)
