"""Provenance: who put a canary in, and who may therefore see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from partywall.canaries import Canary, Keyring, Level, Opened, Scan, Scanner, Scope, Sighting, reaches

from ..observe.history import History, Invoked, Sown
from ..plan.identity import RawPath
from ..plan.leaves import leaves
from ..plan.operation import WRITES, reach_of
from .observation import Observation

_MARGIN = 60
_MINTED_REACH = {"session": Level.SESSION, "memory": Level.USER, "preference": Level.USER}
"""Reach, by kind, of canaries that the deployment itself mints: a session's own is shown to all of its tasks."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One canary that stood in one observation. `owner` is None where it is nobody of this history."""

    observation: Observation
    opened: Opened
    place: str
    excerpt: str
    decoded: tuple[str, ...]
    owner: Scope | None
    planted_by: str
    crossed: Level | None


@dataclass(frozen=True, slots=True)
class _Input:
    """A canary entered `into` at `at` by that scope's own identity; its reach there ends at `reach[channel]`."""

    at: int
    into: RawPath
    reach: Mapping[str, Level]


class Provenance:
    """Reads a history once, then says of any observation which canaries stand in it and whether they may.

    The rule: a canary may be seen where its owner put it, and where the *observer's own identity* put it in
    (imported), each as far as the reach of that write goes in that channel. A write by B into A's session grants
    nothing: were it taken for A's input, the very leak that B caused would excuse itself.
    """

    def __init__(self, history: History) -> None:
        header = history.header
        self.limited = False
        self._scans: dict[str, Scan] = {}
        self._minters: dict[str, Scope | None] = {}
        self.dimensions = header.capabilities.dimensions
        self._sharing = [frozenset(pair) for pair in header.capabilities.intended_sharing]
        self._scanner = Scanner(
            [Keyring.from_record(dict(record)) for record in header.keyrings], level="S3", prefix=header.prefix
        )
        self._sown: dict[str, Sown] = {}
        for planting in history.sown:  # a retry plants the same canary again, and may be the first to arrive
            self._sown.setdefault(planting.canary.text, planting)
        self._inputs: dict[str, list[_Input]] = {}
        self.brought_in: list[Opened] = []
        """Every canary that stood in what an identity put into its own scope."""
        for entry in history.entries:
            if isinstance(entry, Invoked) and entry.caller == entry.scope[:2]:
                self._read_input(entry)
        self._carried: dict[tuple[str | None, ...], set[str]] = {}
        for founding, source in foundings(history):
            tokens = self._concluded(history, source) | self._carried.get(source, set())
            self._carried.setdefault(founding.scope[:3], set()).update(tokens)

    @property
    def canaries(self) -> Iterable[Sown]:
        """Every planting of the history."""
        return self._sown.values()

    @property
    def owners(self) -> list[RawPath]:
        """Everybody who planted something, in the order of first planting."""
        return list(dict.fromkeys(entry.canary.owner.path for entry in self._sown.values()))

    def sights(self, observation: Observation) -> list[Sight]:
        """The canaries in an observation, each with the level that it crossed to get there (None: it may)."""
        found = []
        for place, text in observation.texts:
            scan = self._scan(text)
            self.limited |= scan.limited
            for index, sighting in enumerate(scan.sightings):
                opened = sighting.opened
                sown = self._sown.get(opened.token)
                found.append(
                    Sight(
                        observation,
                        opened,
                        place,
                        _excerpt(text, scan.sightings, index),
                        sighting.chain,
                        sown.canary.owner if sown else self._minter(opened),
                        sown.probe if sown else "",
                        self.crossed(opened, observation.viewer, observation.channel, observation.at),
                    )
                )
        return found

    def tokens(self, text: str) -> tuple[str, ...]:
        """The genuine canaries in a text, as tokens."""
        return tuple(sighting.opened.token for sighting in self._scan(text).sightings)

    def crossed(self, opened: Opened, viewer: RawPath, channel: str, at: int) -> Level | None:
        """The outermost level that a canary crossed to be seen by `viewer` in `channel` at `at`; None if it may."""
        sown = self._sown.get(opened.token)
        if sown is None:
            parted = opened.boundary(viewer)
            if parted is None or parted not in self.dimensions or parted > _MINTED_REACH.get(opened.kind, Level.TASK):
                return None
        else:
            parted = self.parted(sown.canary.owner.path, viewer)
            if parted is None or self.shared(sown.canary.owner.tenant, viewer[0]):
                return None
            if reaches(sown.canary.reach, parted, channel) or self._carried_to(sown.canary, viewer, channel):
                return None
        return None if self._imported(opened.token, viewer, channel, at) else parted

    def _imported(self, token: str, viewer: RawPath, channel: str, at: int) -> bool:
        """Whether the viewer's own identity had put the canary in by then, where it reaches the viewer in `channel`."""
        for entered in self._inputs.get(token, ()):
            if entered.at <= at and entered.into[:2] == viewer[:2]:
                apart = self.parted(entered.into, viewer)
                if apart is None or reaches(entered.reach, apart, channel):
                    return True
        return False

    def _concluded(self, history: History, source: tuple[str | None, ...]) -> set[str]:
        """What a session that goes on from `source` may carry: facts of its tasks, and what of its turns a fact there
        tells. A fact of the session layer is no conclusion."""
        found = {
            text
            for text, sown in self._sown.items()
            if sown.canary.owner.path[:3] == source and _layer(history, sown) == "task"
        }
        for probe, call in history.invocations.items():
            if call.op in ("list_facts", "get_fact") and call.scope[:3] == source:
                told = {token for _, text in leaves(history.outcome(probe).value) for token in self.tokens(text)}
                found |= {token for token in told & set(self._sown) if not _layer(history, self._sown[token])}
        return found

    def _carried_to(self, canary: Canary, viewer: RawPath, channel: str) -> bool:
        """Whether it was carried into the viewer's session: there it reaches as far as in its own."""
        if canary.text not in self._carried.get(viewer[:3], ()):
            return False
        owner = canary.owner.path
        apart = self.parted((owner[0], owner[1], viewer[2], owner[3]), viewer)
        return apart is None or reaches(canary.reach, apart, channel)

    def parted(self, one: RawPath, other: RawPath) -> Level | None:
        """The outermost level at which two paths part, among the dimensions that the target has."""
        for level in Level:
            if level in self.dimensions and one[level - 1] != other[level - 1]:
                return level
        return None

    def _minter(self, opened: Opened) -> Scope | None:
        """The owner of a canary that the deployment minted itself, if it is one of those who planted here."""
        if opened.token not in self._minters:
            paths = dict.fromkeys(path[:depth] + ("",) * (4 - depth) for path in self.owners for depth in (4, 3, 2))
            found = next((path for path in paths if path[0] and path[1] and opened.boundary(path) is None), None)
            self._minters[opened.token] = Scope(*(part or "" for part in found)) if found else None
        return self._minters[opened.token]

    def _scan(self, text: str) -> Scan:
        """Contexts repeat: most texts of a history are read several times, by several checks."""
        if text not in self._scans:
            self._scans[text] = self._scanner.scan(text)
        return self._scans[text]

    def shared(self, one: str | None, other: str | None) -> bool:
        """Whether two tenants share on purpose, as the target declares."""
        return frozenset((one, other)) in self._sharing

    def _read_input(self, invoked: Invoked) -> None:
        for _, text in leaves(dict(invoked.arguments)):
            for sighting in self._scan(text).sightings:
                token = sighting.opened.token
                self.brought_in.append(sighting.opened)
                entered = _Input(invoked.at, invoked.scope, self._reach(invoked, token))
                self._inputs.setdefault(token, []).append(entered)

    def _reach(self, invoked: Invoked, token: str) -> Mapping[str, Level]:
        sown = self._sown.get(token)
        if sown is not None and sown.probe == invoked.probe:
            return sown.canary.reach
        if invoked.op in WRITES:
            layer = str(invoked.arguments.get("layer", "task"))
            return reach_of(invoked.op, layer if layer in ("user", "session", "task") else "task")
        return {"*": Level.TASK}  # a question may be echoed to the task that asked it, and no further


def foundings(history: History) -> Iterator[tuple[Invoked, tuple[str | None, ...]]]:
    """Calls by which an owner opened a session to go on from another of its own, and that other one's path."""
    for probe, call in history.invocations.items():
        source = call.arguments.get("carry_from") if call.op == "create_session" else None
        if source and call.caller == call.scope[:2] and history.outcome(probe).status != "fail":
            yield call, (*call.scope[:2], str(source))


def _layer(history: History, sown: Sown) -> str:
    """The layer that a fact was put into; empty for what is no fact."""
    call = history.invocations.get(sown.probe)
    return str(call.arguments.get("layer", "")) if call is not None and call.op == "put_fact" else ""


def unreached(canary: Canary, parted: Level | None, channel: str) -> bool:
    """Whether a viewer who parts from the owner at `parted` must not see the canary in `channel`."""
    return parted is not None and not reaches(canary.reach, parted, channel)


def _excerpt(text: str, sightings: Sequence[Sighting], index: int) -> str:
    """The text around a sighting, the canary itself shortened in whatever dress it stands: up to the neighbouring
    sightings and 60 characters either way."""
    one = sightings[index]
    start = max(one.start - _MARGIN, sightings[index - 1].end if index else 0)
    end = min(one.end + _MARGIN, sightings[index + 1].start if index + 1 < len(sightings) else len(text))
    return f"{text[start : one.start]}…{one.opened.short}{text[one.end : end]}"
