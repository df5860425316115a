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

BARS = {100_000: 1.5, 1_000_000: 10.0}
BAR_GROWTH = 11.0
SIZES = (1_000, 10_000, 100_000, 1_000_000)
CLIENTS = 8
BATCH = 100_000
ROUNDS = 4


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


def plain(log: Log) -> None:
    """The least that any checker does, as a measure of the machine: number the values, sort the calls and the ends."""
    position = {value: index for index, value in enumerate(log.running)}
    assert len(position) == len(log.running)
    ops: list[Append | Read] = [*log.reads, *log.appends]
    for times in ([op.call for op in ops], [op.ret for op in ops]):
        sorted(range(len(ops)), key=times.__getitem__)


def seconds(size: int) -> tuple[float, float]:
    """Processor time for one log of that size, and for the plain pass over it: the best of some rounds, each a mean
    over a batch of 100,000 operations, so that a small log comes from memory as a large one does."""
    judged = passed = float("inf")
    for seed in range(ROUNDS):
        logs = [right_log(size, each * ROUNDS + seed) for each in range(max(1, BATCH // size))]
        gc.collect()
        gc.freeze()  # what was made for the measurement is no work of the checker's collector
        start = time.process_time()
        for log in logs:
            plain(log)
        middle = time.process_time()
        for log in logs:
            _, found = violations_of(log)
            assert not found, f"a right log was found to be wrong: {found[0]}"
        end = time.process_time()
        gc.unfreeze()
        judged, passed = min(judged, (end - middle) / len(logs)), min(passed, (middle - start) / len(logs))
    return judged, passed


def main() -> int:
    """Print a line for each size and what grew; 1 where a bar is missed.

    Ten times the operations cost even a plain pass more than ten times the time, once they leave the processor's
    caches: the bare growth is printed, and on such a machine may be more than the bar. What is held to the bar is the
    growth beyond that of the plain pass over the same logs, per decade over the whole span.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="leave out larger logs")
    most = parser.parse_args().most
    missed = False
    found: dict[int, tuple[float, float]] = {}
    for size in (size for size in SIZES if size <= most):
        judged, passed = found[size] = seconds(size)
        line = (
            f"{size:>9,} operations  {judged:8.4f} s  {judged / size * 1e6:5.2f} µs each  {judged / passed:4.1f} passes"
        )
        if size // 10 in found:
            before = found[size // 10]
            line += f"  ×10 operations → ×{judged / before[0]:.1f} time, a plain pass ×{passed / before[1]:.1f}"
        if size in BARS:
            missed |= judged > BARS[size]
            line += f"  {judged / BARS[size]:.2f} of the bar of {BARS[size]:g} s"
        print(line)
    first, last = min(found), max(found)
    if first < last:
        decades = math.log10(last / first)
        bare, machine = ((found[last][each] / found[first][each]) ** (1 / decades) for each in (0, 1))
        beyond = 10 * bare / max(10.0, machine)
        missed |= beyond > BAR_GROWTH
        print(f"from {first:,} to {last:,}: ×10 operations → ×{bare:.1f} time, a plain pass ×{machine:.1f}")
        print(f"beyond the plain pass ×{beyond:.1f} (bar ×{BAR_GROWTH:g})")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, the logs themselves included")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
