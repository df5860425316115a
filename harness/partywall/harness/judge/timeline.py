"""Timeline: the calls of each user, so that a check need not read a long history once for every call of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..observe.history import History, Invoked

User = tuple[str | None, ...]


class Timeline:
    """Calls by the user whose scope they address, in the order in which they were sent. A purge is every user's of its
    tenant, whoever it was that called."""

    def __init__(self, history: History) -> None:
        self._by_user: dict[User, list[Invoked]] = defaultdict(list)
        purges: dict[str | None, list[Invoked]] = defaultdict(list)
        for call in history.invocations.values():
            if call.op == "purge":
                purges[call.scope[0]].append(call)
            else:
                self._by_user[call.scope[:2]].append(call)
        for user, calls in self._by_user.items():
            if user[0] in purges:
                calls.extend(purges[user[0]])
            calls.sort(key=lambda call: call.at)
        self._picked: dict[tuple[User, frozenset[str]], tuple[list[int], list[Invoked]]] = {}

    def between(self, user: User, operations: Iterable[str], start: float, end: float) -> Sequence[Invoked]:
        """The user's calls by these operations that were sent after `start` and before `end`."""
        name = (user, frozenset(operations))
        if name not in self._picked:
            calls = [call for call in self._by_user.get(user, ()) if call.op in name[1]]
            self._picked[name] = ([call.at for call in calls], calls)
        instants, calls = self._picked[name]
        return calls[bisect_right(instants, start) : bisect_left(instants, end)]


@lru_cache(maxsize=2)
def timeline_of(history: History) -> Timeline:
    """The timeline of a history, read once for all the checks that ask."""
    return Timeline(history)
