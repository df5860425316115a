"""Overlap: how much of the appending really was concurrent."""

from __future__ import annotations

from collections.abc import Sequence


def overlap(calls: Sequence[tuple[str, int, float]]) -> float:
    """The share of calls, `(client, call, end)`, that overlapped a call of another client, in O(n log n).

    `end` is when the client stopped waiting, not when an unknown outcome can no longer take effect: were that taken,
    one lost answer would make a serial run look concurrent.
    """
    if not calls:
        return 0.0
    in_order = sorted(range(len(calls)), key=lambda index: calls[index][1])
    met = [False] * len(calls)
    latest = _Two()
    for index in in_order:
        client, call, end = calls[index]
        other = latest.of_another(client)
        met[index] = other is not None and other >= call
        latest.offer(client, end)
    earliest = _Two()
    for index in reversed(in_order):
        client, call, end = calls[index]
        other = earliest.of_another(client)
        met[index] |= other is not None and -other <= end
        earliest.offer(client, -call)
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
