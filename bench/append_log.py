"""What judging an append log costs: 100,000 operations against the clock, and growth from 1,000 to 1,000,000.

One session, eight clients, 70 % appends, 1 % of unknown outcome, no turn numbers; reads share the running list, as the
check keeps them. Exits 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import resource
import sys
import time

from partywall.harness.judge.append_log import INFINITY, Append, Log, Read, violations_of

BAR_SECONDS = 1.5
BAR_MILLION = 10.0
BAR_GROWTH = 11.0
SIZES = (1_000, 10_000, 100_000, 1_000_000)
CLIENTS = 8


def right_log(size: int, seed: int) -> Log:
    """What a right target answers: each operation takes effect within its interval, eight in flight at a time."""
    rng = random.Random(seed)
    running: list[int] = []
    appends: list[Append] = []
    reads: list[Read] = []
    free = [0] * CLIENTS
    generation = [0] * CLIENTS
    for index in range(size):
        client = index % CLIENTS
        at = 10 * index + 5
        call = max(free[client], at - rng.randrange(1, 40))
        ret = at + rng.randrange(1, 40)
        free[client] = ret + 1
        name = f"c{client}~{generation[client]}"
        if rng.random() < 0.3:
            reads.append(Read(str(index), name, call, ret, len(running)))
            continue
        unknown = rng.random() < 0.01
        if not unknown or rng.random() < 0.5:
            running.append(index)
        generation[client] += unknown
        appends.append(Append(str(index), name, call, INFINITY if unknown else ret, "info" if unknown else "ok", index))
    last = 10 * size + 100
    reads.append(Read("final", "final", last, last + 1, len(running)))
    return Log(appends, reads, tuple(running))


def seconds(size: int, rounds: int) -> float:
    """Processor time of the best of some rounds, each on a log that nobody has looked at yet."""
    best = INFINITY
    for seed in range(rounds):
        log = right_log(size, seed)
        gc.collect()
        start = time.process_time()
        _, found = violations_of(log)
        best = min(best, time.process_time() - start)
        assert not found, f"a right log was found to be wrong: {found[0]}"
    return best


def main() -> int:
    """Print a line for each size and what grew; 1 where a bar is missed.

    The bar on growth is for the whole span, per decade: between two sizes the processor's caches are left behind, and
    that step says more of the machine than of the algorithm.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="leave out larger logs")
    most = parser.parse_args().most
    missed = False
    taken: dict[int, float] = {}
    for size in (size for size in SIZES if size <= most):
        taken[size] = seconds(size, 9 if size < 100_000 else 5 if size < 1_000_000 else 2)
        line = f"{size:>9,} operations  {taken[size]:8.3f} s  {taken[size] / size * 1e6:5.2f} µs each"
        if size // 10 in taken:
            line += f"  ×10 operations → ×{taken[size] / taken[size // 10]:.1f} time"
        for bar, at in ((BAR_SECONDS, 100_000), (BAR_MILLION, 1_000_000)):
            if size == at:
                missed |= taken[size] > bar
                line += f"  {taken[size] / bar:.2f} of the bar of {bar:g} s"
        print(line)
    decades = math.log10(max(taken) / min(taken))
    growth = (taken[max(taken)] / taken[min(taken)]) ** (1 / decades) if decades else 10.0
    missed |= growth > BAR_GROWTH
    print(f"from {min(taken):,} to {max(taken):,}: ×10 operations → ×{growth:.1f} time (bar ×{BAR_GROWTH:g})")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, the logs themselves included")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
