"""Exposure: which crossings a history really tried, channel by channel, and whether each could have been seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from partywall.canaries import Level

from ..observe.history import History, Seen, Sown
from ..observe.outcome import NOT_IMPLEMENTED, UNSENT
from ..plan.channel import SCOPED_CHANNELS, Channel
from ..plan.identity import RawPath
from ..plan.operation import OPERATIONS
from .observation import Observation, observations
from .provenance import Provenance, Sight, unreached
from .verdict import Control


@dataclass(frozen=True, slots=True)
class Crossing:
    """A chance to leak: `viewer` looked through `channel` after content had been planted beyond `level`."""

    level: Level
    channel: str
    viewer: RawPath


class Exposure:
    """What a history observed: every canary seen, every crossing tried, every control passed or failed."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.provenance = Provenance(history)
        self.observations = observations(history)
        self.sights: list[Sight] = []
        self.own: dict[tuple[str, RawPath], list[Sight]] = defaultdict(list)
        self.stale: list[Sight] = []
        self.unattributed = [
            entry
            for entry in history.entries
            if isinstance(entry, Seen) and entry.viewer is None and self.provenance.tokens(entry.text)
        ]
        self._planted_at = {entry.canary.text: entry.at for entry in self.provenance.canaries}
        for observation in self.observations:
            self._read(observation)
        self.refused = self._refused_owners()
        self.crossings = self._crossings([entry for entry in self.provenance.canaries if self._acknowledged(entry)])

    def control(self, crossing: Crossing) -> Control:
        """Whether the viewer can see a canary within its reach by that channel, and whether the detector would
        have fired on that very text had a foreigner been shown it."""
        own = self.own.get((crossing.channel, crossing.viewer), [])
        name = f"{_name(crossing.viewer)} sees its own by {crossing.channel}"
        if not own:
            return Control(
                name,
                crossing.channel,
                False,
                f"no canary within reach was ever seen there in {self._looks(crossing)} looks",
            )
        firing = next((sight for sight in own if self._fires(sight)), None)
        if firing is None:
            return Control(name, crossing.channel, False, "the detector did not fire on a known foreign canary")
        return Control(name, crossing.channel, True, f"in {firing.observation.probe}")

    def _read(self, observation: Observation) -> None:
        for sight in self.provenance.sights(observation):
            self.sights.append(sight)
            if sight.crossed is not None:
                continue
            if observation.at < self._planted_at.get(sight.opened.token, 0):
                self.stale.append(sight)
            elif observation.channel in SCOPED_CHANNELS and sight.planted_by:
                self.own[observation.channel, observation.viewer].append(sight)

    def attempted(self) -> set[Crossing]:
        """Crossings that were planned and came to nothing: what was to be planted was lost, or refused otherwise than
        as invalid. A history that tried and saw nothing is no history that did not try."""
        return self._crossings([entry for entry in self.provenance.canaries if self._came_to_nothing(entry)])

    def _crossings(self, planted: Sequence[Sown]) -> set[Crossing]:
        found: set[Crossing] = set()
        reads: dict[tuple[str, RawPath], list[Observation]] = defaultdict(list)
        for observation in self.observations:
            if observation.known and observation.channel in SCOPED_CHANNELS and not self._turned_away(observation):
                reads[observation.channel, observation.viewer].append(observation)
        index = _Plantings(planted, self.provenance.dimensions)
        for (channel, viewer), looks in reads.items():
            if viewer in self.refused:
                continue
            for level in index.levels:
                if any(
                    unreached(sown.canary, level, channel)
                    # what may be seen is no wall, and a clean answer would prove none
                    and not self.provenance.shared(sown.canary.owner.tenant, viewer[0])
                    and any(self._could_show(look, sown) for look in looks)
                    for sown in index.parting_at(level, viewer)
                ):
                    found.add(Crossing(level, channel, viewer))
        return found

    def _refused_owners(self) -> set[RawPath]:
        """Owners whose every write the target refused as invalid: it does not take such ids, which is its right, and
        who can store nothing cannot show by its own content that it would see another's."""
        ends: dict[RawPath, set[bool]] = defaultdict(set)
        for sown in self.provenance.canaries:
            outcome = self.history.outcome(sown.probe)
            ends[sown.canary.owner.path].add(outcome.status == "fail" and outcome.code == "invalid")
        return {owner for owner, refused in ends.items() if refused == {True}}

    def _came_to_nothing(self, sown: Sown) -> bool:
        outcome = self.history.outcome(sown.probe)
        excused = outcome.code in ("invalid", UNSENT, NOT_IMPLEMENTED)
        return sown.probe in self.history.completions and outcome.status != "ok" and not excused

    def _turned_away(self, observation: Observation) -> bool:
        """A refusal to one who claimed another's scope is right, and shows as little to whoever has content there."""
        return observation.denied and observation.caller != self.history.invocations[observation.probe].scope[:2]

    def _acknowledged(self, sown: Sown) -> bool:
        return self.history.outcome(sown.probe).status == "ok"

    def _could_show(self, look: Observation, sown: Sown) -> bool:
        """Content that was not there yet cannot leak; and only asking for the foreign id can show a foreign object
        by id, so a look at one's own id is no chance."""
        if look.started < self.history.completions[sown.probe].at:
            return False
        if look.channel != Channel.BY_ID:
            return True
        asked = self.history.invocations[look.probe].arguments.get("memory_id")
        given = self.history.outcome(sown.probe).value
        planted = given.get("id", given.get("memory_id")) if isinstance(given, dict) else given
        return self.history.invocations[sown.probe].op == "add_memory" and asked == planted

    def _fires(self, sight: Sight) -> bool:
        """Judge the very observation again as if a stranger had been shown it: the detector must call it a leak."""
        observation = sight.observation
        outermost = min(self.provenance.dimensions)
        ids = list(observation.viewer)
        ids[outermost - 1] = f"{ids[outermost - 1]}\x00stranger"
        stranger: RawPath = (ids[0], ids[1], ids[2], ids[3])
        forged = replace(observation, viewer=stranger)
        return any(seen.crossed is outermost for seen in self.provenance.sights(forged))

    def _looks(self, crossing: Crossing) -> int:
        return sum(
            1
            for observation in self.observations
            if observation.channel == crossing.channel and observation.viewer == crossing.viewer
        )


class _Plantings:
    """Plantings by where their owners part from a viewer: the first that could show is enough, so that a history of
    many owners and viewers is not read once for every pair of them."""

    def __init__(self, planted: Iterable[Sown], dimensions: Iterable[Level]) -> None:
        self.levels = sorted(dimensions)
        self._by_prefix: dict[tuple[str | None, ...], dict[str | None, list[Sown]]] = {}
        for sown in planted:
            path = sown.canary.owner.path
            for level in self.levels:
                by_id = self._by_prefix.setdefault(self._above(level, path), {})
                by_id.setdefault(path[level - 1], []).append(sown)

    def parting_at(self, level: Level, viewer: RawPath) -> Iterator[Sown]:
        """The plantings whose owners agree with the viewer above `level`, and not there."""
        for name, plantings in self._by_prefix.get(self._above(level, viewer), {}).items():
            if name != viewer[level - 1]:
                yield from plantings

    def _above(self, level: Level, path: RawPath) -> tuple[str | None, ...]:
        return tuple(path[above - 1] for above in self.levels if above < level)


@lru_cache(maxsize=2)
def exposure_of(history: History) -> Exposure:
    """The exposure of a history, read once for all the checks that ask."""
    return Exposure(history)


def offered_channels(history: History) -> list[str]:
    """The scoped channels that the target shows or lets be watched, in the order of the catalogue."""
    shown = {str(OPERATIONS[op].channel) for op in history.offered if op in OPERATIONS}
    shown |= history.header.capabilities.watches
    return [str(channel) for channel in SCOPED_CHANNELS if channel in shown]


def _name(viewer: RawPath) -> str:
    return "/".join("None" if part is None else part or "·" for part in viewer)
