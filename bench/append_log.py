"""What judging an append log costs: 100,000 operations against the clock, and growth from 1,000 to 1,000,000.

One session, eight clients, 70 % appends, 1 % of unknown outcome, no turn numbers; reads share the running list, as the
check keeps them. Exits 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import sys
import time

from partywall.harness.judge.append_log import INFINITY, Append, Log, Read, violations_of

BAR_SECONDS = 1.5
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
    """The best of some rounds, each on a log that has not been looked at."""
    best = INFINITY
    for seed in range(rounds):
        log = right_log(size, seed)
        gc.collect()
        start = time.perf_counter()
        _, found = violations_of(log)
        best = min(best, time.perf_counter() - start)
        assert not found, f"a right log was found to be wrong: {found[0]}"
    return best


def main() -> int:
    """Print a line for each size and what grew; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="leave out larger logs")
    most = parser.parse_args().most
    missed = False
    before = 0.0
    for size in (size for size in SIZES if size <= most):
        taken = seconds(size, 5 if size < 100_000 else 3 if size < 1_000_000 else 1)
        line = f"{size:>9,} operations  {taken:8.3f} s  {taken / size * 1e6:5.2f} µs each"
        if before:
            growth = taken / before
            missed |= growth > BAR_GROWTH
            line += f"  ×10 operations → ×{growth:.1f} time (bar ×{BAR_GROWTH:g})"
        if size == 100_000:
            missed |= taken > BAR_SECONDS
            line += f"  {taken / BAR_SECONDS:.2f} of the bar of {BAR_SECONDS:g} s"
        print(line)
        before = taken
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, the logs themselves included")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
