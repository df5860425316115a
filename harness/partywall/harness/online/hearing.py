"""Hearing: a record is put before the judge of CI, as the history of one call.

There is no second leak rule. What the record's identity put in becomes the arguments of a call, what was shown becomes
sights of its viewer, the levels it names become the dimensions; `judge` reads observations from that, decides what
crossed, and words the finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from partywall.canaries import Keyring, Level, Opened

from ..judge.checks.leak import finding_of
from ..judge.observation import observations
from ..judge.provenance import Provenance, Sight
from ..judge.verdict import Finding
from ..observe.history import Entry, Header, History, Invoked, Seen
from ..plan.capabilities import Capabilities
from ..plan.channel import Channel
from ..plan.identity import RawPath
from ..plan.trial import Trial

_INPUT = "input"
_BROUGHT_IN = "add_memory"
"""The write that own input is judged as: it reaches its user, since nobody who reads a log can tell what the deployment
keeps of it, and for how long."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a record holds: canaries by what they are to its viewer, and one group of sights for each owner wronged.

    `limited` tells that a bound of the scanner was hit.
    """

    own: frozenset[str]
    imported: frozenset[str]
    crossed: tuple[tuple[Sight, ...], ...]
    limited: bool

    @property
    def foreign(self) -> frozenset[str]:
        """The canaries that crossed."""
        return frozenset(sight.opened.token for group in self.crossed for sight in group)

    @property
    def tokens(self) -> frozenset[str]:
        """Every canary of the record."""
        return self.own | self.imported | self.foreign


class Hearing:
    """Judges records of one deployment, one at a time."""

    def __init__(self, keyrings: Sequence[Keyring], prefix: str, source: str) -> None:
        self._keyrings = tuple(keyring.to_record() for keyring in keyrings)
        self._prefix = prefix
        self._source = source
        self._bare = lru_cache(maxsize=16)(lambda levels: Provenance(self._history(levels, ())))

    def crossed(self, opened: Opened, viewer: RawPath, levels: frozenset[Level]) -> Level | None:
        """The outermost level that a canary crossed to `viewer`, nothing being known of what it put in."""
        return self._bare(levels).crossed(opened, _whole(viewer), Channel.REPLY, 0)

    def hear(
        self,
        viewer: RawPath,
        levels: frozenset[Level],
        own: Sequence[str],
        shown: Sequence[tuple[str, str]],
        trace: str,
    ) -> Heard:
        """What a record holds. `own` also takes the canaries that the viewer put in earlier."""
        path = _whole(viewer)
        entries: list[Entry] = [
            Invoked(0, _INPUT, "", _BROUGHT_IN, (path[0] or "", path[1] or ""), path, {"text": list(own)})
        ]
        entries += [Seen(1, channel, text, path, trace) for channel, text in shown]
        history = History(self._header(levels), tuple(entries))
        provenance = Provenance(history)
        seen = [sight for observation in observations(history) for sight in provenance.sights(observation)]
        groups: dict[object, list[Sight]] = {}
        for sight in seen:
            if sight.crossed is not None:
                groups.setdefault((sight.opened.epoch, sight.opened.digests), []).append(sight)
        passed = {sight.opened.token: sight.opened for sight in seen if sight.crossed is None}
        brought = {opened.token: opened for opened in provenance.brought_in}
        imported = {
            token for token, opened in (passed | brought).items() if self.crossed(opened, viewer, levels) is not None
        }
        return Heard(
            frozenset((passed.keys() | brought.keys()) - imported),
            frozenset(imported),
            tuple(tuple(_outermost_first(group)) for group in groups.values()),
            provenance.limited,
        )

    def tell(self, group: Sequence[Sight], told: RawPath) -> Finding:
        """The judge's finding on one owner's canaries, its observer told as `told`."""
        return finding_of(
            [replace(sight, observation=replace(sight.observation, viewer=told)) for sight in group], self._prefix
        )

    def _history(self, levels: frozenset[Level], entries: tuple[Entry, ...]) -> History:
        return History(self._header(levels), entries)

    def _header(self, levels: frozenset[Level]) -> Header:
        capabilities = Capabilities(operations=frozenset({_BROUGHT_IN}), dimensions=levels)
        return Header(Trial("watch", self._source), capabilities, self._keyrings, self._prefix)


def _whole(viewer: RawPath) -> RawPath:
    # levels that were not named are no dimensions, so what stands there is never compared
    return (viewer[0] or "", viewer[1] or "", viewer[2] or "", viewer[3] or "")


def _outermost_first(group: Sequence[Sight]) -> list[Sight]:
    return sorted(group, key=lambda sight: sight.crossed or Level.TASK)
