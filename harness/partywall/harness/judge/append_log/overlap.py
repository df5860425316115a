"""Overlap: how much of the appending really was concurrent."""

from __future__ import annotations

from collections.abc import Sequence

from .model import Append


def overlap(appends: Sequence[Append], ended: Sequence[float] | None = None) -> float:
    """The share of appends that overlapped an append of another client, in O(n log n).

    `ended` gives when each call ended for its client, where that differs from `ret`: an append of unknown outcome
    returns at infinity, and were that taken for its end, one lost answer would make the whole run look concurrent.
    """
    if not appends:
        return 0.0
    ends = [append.ret for append in appends] if ended is None else list(ended)
    in_order = sorted(range(len(appends)), key=lambda index: appends[index].call)
    met = [False] * len(appends)
    latest = _Two()
    for index in in_order:
        append = appends[index]
        other = latest.of_another(append.client)
        met[index] = other is not None and other >= append.call
        latest.offer(append.client, ends[index])
    earliest = _Two()
    for index in reversed(in_order):
        append = appends[index]
        other = earliest.of_another(append.client)
        met[index] |= other is not None and -other <= ends[index]
        earliest.offer(append.client, -append.call)
    return sum(met) / len(met)


class _Two:
    """The greatest value offered by any client, and the greatest by any other than that one."""

    def __init__(self) -> None:
        self._best: tuple[str, float] | None = None
        self._second: tuple[str, float] | None = None

    def of_another(self, client: str) -> float | None:
        for held in (self._best, self._second):
            if held is not None and held[0] != client:
                return held[1]
        return None

    def offer(self, client: str, value: float) -> None:
        if self._best is None or self._best[0] == client:
            self._best = (client, value if self._best is None else max(value, self._best[1]))
        elif value > self._best[1]:
            self._best, self._second = (client, value), self._best
        elif self._second is None or value > self._second[1]:
            self._second = (client, value)
