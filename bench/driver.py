"""What the driver costs beside the same requests by bare httpx, at the same concurrency, in the same run."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time

import httpx
from partywall.canaries import DEFAULT_PREFIX, Scope
from partywall.harness.drive.driver import closed, drive
from partywall.harness.drive.resolve import kind_of
from partywall.harness.drive.target import TargetSettings
from partywall.harness.drive.targets.reference import ReferenceTarget
from partywall.harness.observe.history import Header
from partywall.harness.observe.recorder import Recorder
from partywall.harness.plan import Call, Identity, Phase, Probe, Schedule, Trial

CLIENTS, CALLS, ROUNDS = 8, 60, 5
BAR = 1.15


def schedule() -> Schedule:
    """Every client asks for its own turns, again and again."""
    probes = []
    for client in range(CLIENTS):
        scope = Scope("acme", f"user{client}", "s1", "k1")
        for number in range(CALLS):
            probes.append(Probe(f"p{client}-{number}", str(client), Call("list_turns", Identity.of(scope), scope)))
    return Schedule((Phase.of(probes),))


async def driven(target: ReferenceTarget, planned: Schedule) -> float:
    """Seconds by the driver, recording included."""
    header = Header(Trial("bench", "reference"), target.capabilities, (), DEFAULT_PREFIX)
    recorder = Recorder(header)
    begun = time.perf_counter()
    await drive(planned, target, recorder)
    seconds = time.perf_counter() - begun
    answers = [entry for entry in recorder.history().completions.values() if entry.outcome.status == "ok"]
    assert len(answers) == CLIENTS * CALLS, f"{len(answers)} of {CLIENTS * CALLS} calls were answered"
    return seconds


async def bare(target: ReferenceTarget, headers: list[dict[str, str]]) -> float:
    """Seconds by httpx alone: one client and pool an identity, the same bodies, the answers parsed."""

    async def one(number: int) -> None:
        base_url = target.profile.base_url
        async with httpx.AsyncClient(base_url=base_url, trust_env=False, headers=headers[number]) as client:
            scope = {"tenant": "acme", "user": f"user{number}", "session": "s1", "task": "k1"}
            for _ in range(CALLS):
                answer = await client.post("/v1/list_turns", json={"scope": scope})
                assert answer.status_code == 200
                answer.json()

    begun = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(CLIENTS)))
    return time.perf_counter() - begun


async def measure() -> float:
    """The median ratio over interleaved rounds."""
    target = await kind_of("reference").open("reference", TargetSettings())
    assert isinstance(target, ReferenceTarget)
    try:
        tokens = [target.token(Identity("acme", f"user{number}")) for number in range(CLIENTS)]
        headers = [{"authorization": f"Bearer {token}"} for token in tokens]
        planned = schedule()
        await driven(target, planned)
        await bare(target, headers)
        ratios = []
        for _ in range(ROUNDS):
            ours, theirs = await driven(target, planned), await bare(target, headers)
            ratios.append(ours / theirs)
        return statistics.median(ratios)
    finally:
        await closed(target)


def main() -> int:
    """Print one line; 1 where the bar is missed."""
    ratio = asyncio.run(measure())
    fine = ratio <= BAR
    print(f"driver / bare httpx, {CLIENTS} clients: {ratio:.2f} (bar ≤ {BAR:.2f}) {'ok' if fine else 'MISSED'}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
