"""Sessions: a history's appends and full reads, one log for each session and epoch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from partywall.canaries import Level, reaches

from ...observe.history import History, Invoked, Sown
from ...plan.channel import Channel
from .attempts import Attempt, Gathered, Key, Promises, gather
from .epochs import Cut, cuts_of, epoch
from .listing import Item, Tokens, items_of
from .model import Log, Value, Violation, log_of
from .overlap import overlap

_APPENDS = ("append_turn", "run_turn")


@dataclass(frozen=True, slots=True)
class Session:
    """One log as it is judged.

    clients      how many connections appended to it
    overlapping  the share of its appends that overlapped another client's
    seen         whether any read showed any of its turns
    unclear      how many appends could not be judged, since a retry of theirs is not promised to be one append
    violations   contradictions that stand in the answers themselves
    """

    key: Key
    log: Log
    clients: int
    overlapping: float
    seen: bool
    unclear: int
    violations: tuple[Violation, ...] = ()


@dataclass(slots=True)
class _Raw:
    attempts: list[Attempt] = field(default_factory=list)
    reads: list[tuple[Invoked, int, list[Item]]] = field(default_factory=list)
    other: bool = False
    """Something was written that has no value of its own, so turn numbers are no positions among the values."""


def sessions_of(history: History) -> list[Session]:
    """The logs of a history, in the order in which they were first written to.

    A call counts where the caller addressed its own scope: whether a stranger's may land there is a question of
    isolation. A read counts where it asked for everything.
    """
    harvest = _Harvest(history)
    return [harvest.session(key, number, raw) for (key, number), raw in harvest.logs.items() if raw.attempts]


class _Harvest:
    def __init__(self, history: History) -> None:
        capabilities = history.header.capabilities
        self._history = history
        self._dimensions = capabilities.dimensions
        self._sharing = [frozenset(pair) for pair in capabilities.intended_sharing]
        self._promises = Promises.of(capabilities.promises)
        self._sown: dict[str, Sown] = {}
        for entry in history.sown:
            self._sown.setdefault(entry.canary.text.lower(), entry)
        self._tokens = Tokens(history.header.prefix, self._sown)
        self._cuts = cuts_of(history)
        self._carrying = any(call.arguments.get("carry_from") for call in history.invocations.values())
        self._planted: dict[str, frozenset[str]] = {}
        self._roles: set[str] = set()
        self._opaque: set[str] = set()
        self._owner: dict[str, tuple[Key, int]] = {}
        self._by_id: dict[str, set[tuple[Key, tuple[str, str]]]] = defaultdict(set)
        self.logs: dict[tuple[Key, int], _Raw] = {}
        attempts = [each for call in history.invocations.values() if (each := self._attempt(call)) is not None]
        reads = self._reads()
        split = self._stored_by_task(attempts, reads)
        for attempt in attempts:
            self._place(attempt, split)
        for call, end, items in reads:
            key = self._key(call, split)
            number = epoch(self._cuts_of(key), call.at, end)
            if number is not None:
                self._raw(key, number).reads.append((call, end, items))

    def _attempt(self, call: Invoked) -> Attempt | None:
        if call.op not in _APPENDS:
            return None
        outcome = self._history.outcome(call.probe)
        ended = self._history.completions.get(call.probe)
        text = str(call.arguments.get("text", ""))
        token = self._tokens.of(text)
        if token:
            self._planted[token] = self._planted.get(token, frozenset()) | {text}
        self._roles.add(str(call.arguments.get("role", "user")))
        if call.caller != call.scope[:2] or call.credential != "valid":
            self._opaque |= {token}  # where it lands, if anywhere, is for the checks of isolation to say
        end = ended.at if ended is not None else self._history.entries[-1].at
        return Attempt(call, outcome, end, (), token)

    def _reads(self) -> list[tuple[Invoked, int, list[Item]]]:
        """Full listings that were answered; a window of the last turns says nothing of what stands before it."""
        if str(self._history.header.capabilities.promises.get("read", "full")) != "full":
            return []
        found = []
        for call in self._history.invocations.values():
            ended = self._history.completions.get(call.probe)
            if call.op != "list_turns" or call.caller != call.scope[:2] or call.credential != "valid":
                continue
            if call.arguments.get("limit") is None and ended is not None and ended.outcome.status == "ok":
                items = items_of(ended.outcome.value, self._tokens, self._planted, frozenset(self._roles))
                found.append((call, ended.at, items))
        return found

    def _stored_by_task(self, attempts: Iterable[Attempt], reads: Iterable[tuple[Invoked, int, list[Item]]]) -> bool:
        """Whether listings keep tasks apart: a listing may show the whole session, and need not. Were one log assumed
        then, every turn of another task would count as lost."""
        if Level.TASK not in self._dimensions:
            return False
        task = {each.token: each.call.scope for each in attempts if each.token}
        if len({scope[3] for scope in task.values()}) < 2:
            return False
        return not any(
            item.token in task and task[item.token][:3] == call.scope[:3] and task[item.token][3] != call.scope[3]
            for call, _, items in reads
            for item in items
        )

    def _place(self, attempt: Attempt, split: bool) -> None:
        key = self._key(attempt.call, split)
        number = epoch(self._cuts_of(key), attempt.call.at, attempt.ret)
        attempt = Attempt(attempt.call, attempt.outcome, attempt.end, key, attempt.token)
        raw = self._raw(key, number or 0)
        if number is None or not attempt.token or attempt.token in self._opaque:
            self._opaque |= {attempt.token}
            raw.other |= attempt.outcome.status != "fail"
            return
        raw.other |= attempt.call.op == "run_turn" and attempt.outcome.status != "fail"  # a reply stands beside it
        raw.attempts.append(attempt)
        if attempt.sent:
            self._owner.setdefault(attempt.token, (key, number))
        if attempt.call.request_id is not None and attempt.outcome.status == "ok":
            self._by_id[attempt.call.request_id].add((key, attempt.call.caller))

    def _raw(self, key: Key, number: int) -> _Raw:
        return self.logs.setdefault((key, number), _Raw())

    def _key(self, call: Invoked, split: bool) -> Key:
        """Ids of levels that the target does not keep apart name nothing."""
        levels = (*tuple(Level)[:3], *([Level.TASK] if split else []))
        return tuple(call.scope[level - 1] if level in self._dimensions else "" for level in levels)

    def _cuts_of(self, key: Key) -> list[Cut]:
        return [cut for cut in self._cuts if cut.ends(key)] if self._cuts else []

    def session(self, key: Key, number: int, raw: _Raw) -> Session:
        """The log of `key` after `number` cuts."""
        elsewhere = frozenset(name for name, where in self._by_id.items() if len(where) > 1)
        gathered = gather(raw.attempts, self._promises, elsewhere)
        foreign: set[Value] = set()
        reads = []
        plain = not raw.other and number == 0 and not gathered.opaque
        beginnings = {each.number for each in raw.attempts} - {None}
        for call, end, items in sorted(raw.reads, key=lambda read: read[0].at):
            first = items[0].number if items else None
            if first is not None and any(begun is not None and begun < first for begun in beginnings):
                continue  # numbers that begin later declare a head that was taken away
            shown = [self._value(item, key, number, gathered, foreign) for item in items]
            plain &= None not in shown
            reads.append((call.probe, call.client, call.at, end, [value for value in shown if value is not None]))
        numbered = gathered.numbered and plain
        appends = (
            gathered.appends
            if plain
            else tuple(replace(append, base=None, conflict=False) for append in gathered.appends)
        )
        return Session(
            key,
            log_of(appends, reads, numbered, frozenset(foreign)),
            len({attempt.call.client for attempt in raw.attempts if attempt.sent}),
            _overlapping(raw.attempts),
            any(values for *_, values in reads),
            len(gathered.opaque),
            gathered.violations,
        )

    def _value(self, item: Item, key: Key, number: int, gathered: Gathered, foreign: set[Value]) -> Value | None:
        """What an item is in the log of `key`; None for what is none of the driver's appends, or may be there."""
        token = item.token
        if token in gathered.values:
            return gathered.values[token]
        if not token or token in self._opaque or token in gathered.opaque:
            return None
        sown = self._sown[token]
        owner = self._owner.get(token)
        if owner is None:
            planned = self._history.invocations.get(sown.probe)
            # planned as a turn and never sent; what was planted otherwise, a memory, may be quoted here
            return token if planned is None or planned.op in _APPENDS else None
        if owner[0] == key or self._may_be_seen(sown, key):
            return None  # of an earlier epoch, or in reach
        foreign.add(token)
        return token

    def _may_be_seen(self, sown: Sown, key: Key) -> bool:
        owner = sown.canary.owner.path
        parted = next(
            (
                level
                for level in tuple(Level)[: len(key)]
                if level in self._dimensions and owner[level - 1] != key[level - 1]
            ),
            None,
        )
        shared = frozenset((owner[0], key[0])) in self._sharing
        carried = self._carrying and parted is not None and parted >= Level.SESSION
        return parted is None or shared or carried or reaches(sown.canary.reach, parted, Channel.TURNS)


def _overlapping(attempts: list[Attempt]) -> float:
    return overlap([(each.call.client, each.call.at, each.end) for each in attempts if each.sent])
