"""What checking costs a load test: requests/s of IsolatedUser beside the same user unchecked, in the same run."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

USERS, PAIRS, SETTLE, SLICE = 8, 42, 0.1, 0.35
"""Simulated users; pairs of slices; seconds after a change that do not count, and seconds that do."""
BAR = 0.9
CHILD = "--in-locust"
Slice = tuple[int, float, float]
"""Requests, seconds, CPU seconds of the process that sends."""


async def measure() -> dict[str, list[Slice]]:
    """The slices of the checked and the unchecked user, measured in a child."""
    import asyncio  # here, as all that follows: in the child, nothing may load TLS before Locust patches it
    import hashlib

    from partywall.canaries import Keyring
    from partywall.harness.drive.driver import closed
    from partywall.harness.drive.resolve import kind_of
    from partywall.harness.drive.target import TargetSettings
    from partywall.harness.drive.targets.reference import ReferenceTarget
    from partywall.harness.frontends.load_spec import LoadSpec

    target = await kind_of("reference").open("reference", TargetSettings())
    assert isinstance(target, ReferenceTarget)
    keyring = Keyring.derive(hashlib.sha256(b"bench").digest(), "bench")
    try:
        with tempfile.TemporaryDirectory() as folder:
            records = tuple(ring.to_record() for ring in (keyring, *target.keyrings))
            spec = LoadSpec("reference-agent", "reference", 1, USERS, 1, records, folder, most_entries=10_000_000)
            secrets = {"PARTYWALL_AGENT_URL": target.profile.base_url, "PARTYWALL_TOKEN_KEY": target.secret}
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, str(Path(__file__).resolve()), CHILD),
                env=spec.environment(os.environ, secrets),
                stdout=asyncio.subprocess.PIPE,
            )
            said, _ = await child.communicate()
            if child.returncode:
                sys.exit(child.returncode)
            found: dict[str, list[Slice]] = json.loads(said)
            return found
    finally:
        await closed(target)


def slices() -> dict[str, list[Slice]]:
    """The same users all along, checked and unchecked in turn; which comes first alternates."""
    import locust  # noqa: F401, I001  # first: it patches the process
    import gevent  # type: ignore[import-untyped]  # it ships no types
    from locust.env import Environment

    from partywall.harness.frontends.load_witness import Ending, Reply
    from partywall.harness.frontends.locust_user import IsolatedUser
    from partywall.harness.observe.outcome import Outcome
    from partywall.harness.plan import Probe

    class Either(IsolatedUser):
        """Without pauses; the same requests whether or not anything is recorded and scanned."""

        pause = (0.0, 0.0)
        checking = True
        unchecked: set[str] = set()  # noqa: RUF012  # probes sent while nothing was checked

        def sent(self, probe: Probe) -> None:
            """Recorded, or not."""
            if Either.checking:
                super().sent(probe)
            else:
                Either.unchecked.add(probe.id)

        def answered(self, probe: Probe, reply: Reply) -> Ending:
            """Understood, scanned and recorded; or nothing but its status looked at."""
            if probe.id not in Either.unchecked:
                return super().answered(probe, reply)
            Either.unchecked.discard(probe.id)
            fine = 200 <= reply.status < 300
            return Ending(Outcome("ok" if fine else "info"), "" if fine else "no success")

    environment = Environment(user_classes=[Either])
    runner = environment.create_local_runner()
    runner.start(USERS, spawn_rate=USERS * 10)
    gevent.sleep(2)
    total = environment.stats.total  # after the start, which begins them anew
    found: dict[str, list[Slice]] = {"checked": [], "unchecked": []}
    for number in range(PAIRS):
        for checking in (True, False) if number % 2 == 0 else (False, True):
            Either.checking = checking
            gevent.sleep(SETTLE)
            before, cpu, begun = total.num_requests, time.process_time(), time.perf_counter()
            gevent.sleep(SLICE)
            one = (total.num_requests - before, time.perf_counter() - begun, time.process_time() - cpu)
            found["checked" if checking else "unchecked"].append(one)
    failed = [f"{error.name}: {error.error}" for error in environment.stats.errors.values()]
    runner.quit()
    if failed:
        sys.exit(f"requests failed, so nothing was measured: {'; '.join(failed)}")
    return found


def main() -> int:
    """Print one line; 1 where the bar is missed."""
    if CHILD in sys.argv:
        print(json.dumps(slices()))
        return 0
    import asyncio

    found = asyncio.run(measure())
    sums = {name: [sum(column) for column in zip(*each, strict=True)] for name, each in found.items()}
    rate = {name: requests / seconds for name, (requests, seconds, _) in sums.items()}
    cost = {name: 1000 * cpu / requests for name, (requests, _, cpu) in sums.items()}
    ratio = rate["checked"] / rate["unchecked"]
    fine = ratio >= BAR
    print(
        f"requests/s checked / unchecked, {USERS} users on the reference: {ratio:.2f} "
        f"({rate['checked']:.0f} / {rate['unchecked']:.0f}; "
        f"CPU of the process that sends {cost['checked']:.2f} / {cost['unchecked']:.2f} ms a request) "
        f"(bar ≥ {BAR:.2f}) {'ok' if fine else 'MISSED'}"
    )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
