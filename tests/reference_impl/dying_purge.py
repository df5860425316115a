"""A program: sows two tenants, purges one, and kills itself (SIGKILL) at the point of the purge that it is told.

`python dying_purge.py FOLDER POINT [SETTINGS as JSON]` prints what it reached, and exits 0 where the purge ended first.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

if __name__ == "__main__":  # run by path: the package of these tests is found beside it
    sys.path.insert(0, str(Path(__file__).parents[2]))

from partywall.canaries import Level, Scope
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.purge import Purge

from tests.reference_impl.deployment import Deployment, Echo

ANN = ("tenant-1", "ann", "s1", "k1")
NEIGHBOUR = ("tenant-10", "ann", "s1", "k1")
DOOMED, KEPT = "hapaxlegomenon", "paroikos"


class Dying(Purge):
    """Counts the points at which a crash may come, and comes to its end at one of them."""

    point = -1
    reached = 0

    def die(self, where: str) -> None:
        print(self.reached, where, flush=True)
        if self.reached == self.point:
            os.kill(os.getpid(), signal.SIGKILL)
        self.reached += 1

    async def erase(self, place: str, scope: Scope, level: Level) -> int:
        self.die(f"before {place}")
        went = await super().erase(place, scope, level)
        self.die(f"{place} erased")
        return went

    async def confirm(self, job: str, confirmed: Mapping[str, int]) -> None:
        await super().confirm(job, confirmed)
        self.die(f"{list(confirmed)[-1]} confirmed")

    async def forget(self, job: str) -> None:
        self.die("before the job is forgotten")
        await super().forget(job)
        self.die("the job is forgotten")


def sow(deployment: Deployment, at: tuple[str, ...], word: str) -> None:
    """One text by every write, and one of each derived copy."""
    deployment.value("append_turn", at, text=word, request_id=f"{word}-1")
    deployment.value("run_turn", at, text=word)
    deployment.value("add_memory", at, text=f"tea with {word}")
    for layer in ("user", "session", "task"):
        deployment.value("put_fact", at, key=layer, value=word, layer=layer)
    deployment.value("put_artifact", at, name="report", text=word)
    deployment.value("cached_answer", at, query="what is known?")


def main(folder: str, point: str, settings: str = "{}") -> int:
    deployment = Deployment(Path(folder), replace(Parts(), model=Echo, purge=Dying), **json.loads(settings))
    sow(deployment, ANN, DOOMED)
    sow(deployment, NEIGHBOUR, KEPT)
    purge = deployment.system.purge
    assert isinstance(purge, Dying)
    purge.point = int(point)
    deployment.value("purge", ANN, deployment.token("ops", "ops", "operator"), level="tenant")
    deployment.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
