"""Gaps: acknowledged numbers behind the order, and who may fill the slots below them (end of step 3)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from .keys import Keyed
from .model import INFINITY, Append, Log, Order, Violation


def gaps(log: Log, order: Order, keys: Keyed, conflicts: list[tuple[float, float]]) -> Iterator[Violation]:
    """The first slot that no append can have filled.

    Below the greatest number every slot is filled: by whom it was acknowledged to, else by an append of unknown
    outcome. Such an append may land at any time after its call, so it fits every slot up to the last whose follower
    had not ended before that call. Hence earliest call to lowest slot: if any assignment fits, exchanging two of its
    appends into this order still fits. A commit of unknown outcome fits the one slot that it expected.
    """
    if not log.numbered:
        return
    marks = [(2 * slot + 1.0, append.ret, append) for slot, append in keys.beyond.items()]
    ends = sorted([(key, ret) for key, ret, _ in marks] + conflicts)
    if not ends:
        return
    keyed = [key for key, _ in ends]
    soonest = [INFINITY] * (len(ends) + 1)
    for index in range(len(ends) - 1, -1, -1):
        soonest[index] = min(soonest[index + 1], ends[index][1])
    unseen = [each for each in keys.unseen if each.status == "info"]
    bound = {each.base: each for each in sorted(unseen, key=lambda each: -each.call) if each.base is not None}
    free = iter(sorted((each for each in unseen if each.base is None), key=lambda each: each.call))
    for slot in range(len(order.values), int(keyed[-1]) // 2):
        if slot in keys.beyond:
            continue
        deadline = soonest[bisect_right(keyed, 2 * slot + 1)]
        fixed = bound.get(slot)
        if fixed is not None and fixed.call <= deadline:
            continue
        filler = next(free, None)
        if filler is None or filler.call > deadline:
            yield Violation("TURN-NUMBER-GAP", _above(keys, slot), None, slot=slot)
            return


def _above(keys: Keyed, slot: int) -> Append | None:
    """The acknowledged append behind the slot that ended first: whoever fills the slot must have come before it."""
    later = [append for place, append in keys.beyond.items() if place > slot]
    return min(later, key=lambda append: append.ret, default=None)
