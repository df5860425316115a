"""Check `takeover`: what one owner wrote is still its own after another wrote under the same ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from partywall.canaries import Level

from ...observe.history import History, Sown
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.identity import RawPath
from ...plan.operation import ANY_WRITE
from ..append_log.epochs import Cut, cuts_of
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..observation import Observation
from ..provenance import Sight
from ..testimony import evidence_of, finding, named
from ..verdict import Control, Finding, Verdict

_EXACT = frozenset({Channel.TURNS, Channel.LIST, Channel.BY_ID, Channel.FACTS, Channel.ARTIFACTS})
"""Channels that show all that is there. A search or an assembled context may rank the first owner's text away
after any write at all, so its absence there is no takeover."""


@dataclass(frozen=True, slots=True)
class _Look:
    """One question, asked in the same words by the same viewer again and again."""

    op: str
    viewer: RawPath
    asked: str


def judge(history: History) -> Verdict:
    """Violated where an owner saw its own canary, another owner's write under the same ids was acknowledged, the
    owner wrote and deleted nothing itself, and the same question then no longer showed it."""
    exposure = exposure_of(history)
    findings: dict[tuple[str, RawPath], Finding] = {}
    saw: dict[tuple[str, RawPath], bool] = {}
    cuts = cuts_of(history)
    shown = {(sight.observation.probe, sight.opened.token) for sight in exposure.sights}
    for look, answers in _looks(exposure).items():
        for before, after in pairwise(answers):
            intruder = _intruder(history, exposure, cuts, look.viewer, before, after)
            if intruder is None:
                continue
            own = [
                sight
                for sight in exposure.sights
                if sight.observation is before and sight.owner is not None and sight.owner.path == look.viewer
            ]
            if not own and not _has_planted(history, exposure, look.viewer, before):
                continue  # a newcomer with nothing yet has nothing that could be taken
            saw[before.channel, look.viewer] = saw.get((before.channel, look.viewer), False) or bool(own)
            gone = [sight for sight in own if (after.probe, sight.opened.token) not in shown]
            if gone:
                findings.setdefault((look.op, look.viewer), _finding(exposure, gone, intruder, after))
    controls = [
        Control(
            f"{named(viewer)} saw its own by {channel} before another wrote under its ids",
            channel,
            passed,
            "" if passed else "it did not, so nothing could be lost",
        )
        for (channel, viewer), passed in saw.items()
    ]
    return conclude(
        "takeover",
        Guarantee.ISOLATION,
        list(findings.values()),
        controls,
        covered=bool(controls),
        reason="" if controls else "no owner asked the same before and after another wrote under its ids",
    )


def _has_planted(history: History, exposure: Exposure, viewer: RawPath, before: Observation) -> bool:
    return any(
        entry.canary.owner.path == viewer
        and entry.at < before.started
        and history.outcome(entry.probe).status != "fail"
        for entry in exposure.provenance.canaries
    )


def _looks(exposure: Exposure) -> dict[_Look, list[Observation]]:
    looks: dict[_Look, list[Observation]] = {}
    for observation in exposure.observations:
        if observation.channel in _EXACT and observation.known and observation.caller == observation.viewer[:2]:
            arguments = exposure.history.invocations[observation.probe].arguments
            look = _Look(observation.op, observation.viewer, repr(sorted(arguments.items(), key=str)))
            looks.setdefault(look, []).append(observation)
    return looks


def _intruder(
    history: History, exposure: Exposure, cuts: Sequence[Cut], viewer: RawPath, before: Observation, after: Observation
) -> Sown | None:
    """The foreign write between two answers; None where there was none or the owner wrote there itself."""
    for entry in exposure.provenance.canaries:
        write = history.invocations[entry.probe]
        if write.caller == viewer[:2] and before.at < write.at < after.at:
            return None  # an overwritten fact or a full session may be the owner's own doing
    if any(cut.ends(viewer[:3]) and cut.call < after.at and before.at < cut.ret for cut in cuts):
        return None  # purged, archived or at its end
    for entry in exposure.provenance.canaries:
        owner = entry.canary.owner.path
        end = history.completions.get(entry.probe)
        if end is None or end.outcome.status != "ok" or not before.at < end.at < after.started:
            continue
        parted = exposure.provenance.parted(owner, viewer)
        if parted is None or parted > Level.USER:
            continue  # two sessions or tasks of one user share what is the user's, and may replace it
        if owner[2:] == viewer[2:]:
            return entry
    return None


def _finding(exposure: Exposure, gone: list[Sight], intruder: Sown, after: Observation) -> Finding:
    sight = gone[0]
    viewer = sight.observation.viewer
    thief = intruder.canary.owner.path
    parted = exposure.provenance.parted(thief, viewer)
    assert parted is not None
    claim = (
        f"{named(viewer)}'s canary {sight.opened.short} was in {sight.observation.channel} by {sight.observation.op} "
        f"#{sight.observation.probe} and gone in #{after.probe}, after {named(thief)} wrote under the same ids "
        f"#{intruder.probe}: taken over across {parted.name}"
    )
    prefix = exposure.history.header.prefix
    return finding(
        "PW106",
        claim,
        boundary=parted.label,
        owner=viewer,
        observer=thief,
        channel=sight.observation.channel,
        carrier="plain",
        evidence=[evidence_of(each, prefix) for each in gone],
        kind=(sight.observation.op,),
    )


CHECK = Check(
    id="takeover",
    title="a write under the same ids does not take another owner's content",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset({"PW106"}),
    needs=frozenset({ANY_WRITE, "get_artifact | get_fact | get_memory | list_facts | list_memories | list_turns"}),
    judge=judge,
)
