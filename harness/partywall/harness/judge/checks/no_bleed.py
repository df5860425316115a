"""Check `no_bleed`: what a faulty model said is gone with its turn, and nothing foreign comes in its stead."""

from __future__ import annotations

from collections.abc import Iterable

from partywall.canaries import redact_tokens

from ...observe.history import History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.identity import RawPath
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..observation import Observation
from ..struck import StruckTurn, delivered_control, prompts_of, struck_turns, was_due
from ..testimony import evidence_of, finding, named
from ..verdict import Control, Evidence, Finding, Verdict

_MARGIN = 40


def judge(history: History) -> Verdict:
    """Violated where a word of a faulty answer stands in what a later call showed or sent, in its own scope (kept) or
    in another (bled), or where a struck turn or a later call was shown another scope's canary.

    Only later calls count for the word: in the same turn an agent may send the broken answer back to have it mended.
    """
    turns = struck_turns(history)
    exposure = exposure_of(history)
    findings: list[Finding] = []
    if turns:
        findings += _words(exposure, turns)
        findings += _foreign(exposure, turns)
    return conclude(
        "no_bleed",
        Guarantee.RESILIENCE,
        findings,
        [delivered_control(turns), *_healed(history, exposure, turns)],
        covered=was_due(history),
        reason="" if turns else "no turn was struck by a fault",
        checked=len(turns),
        total=len(turns),
    )


def _words(exposure: Exposure, turns: tuple[StruckTurn, ...]) -> list[Finding]:
    found: dict[tuple[str, str, RawPath], Finding] = {}
    for turn in turns:
        for mark in turn.marks:
            for seen in _later(exposure.observations, turn):
                text = next((text for _, text in seen.texts if mark in text), None)
                if text is not None:
                    told = _word(exposure, turn, seen, text, mark)
                    found.setdefault((told.code, told.channel, seen.viewer), told)
    return list(found.values())


def _word(exposure: Exposure, turn: StruckTurn, seen: Observation, text: str, mark: str) -> Finding:
    parted = exposure.provenance.parted(turn.owner, seen.viewer)
    excerpt = redact_tokens(text, exposure.history.header.prefix)  # first, lest half a canary stand at its edge
    excerpt = excerpt[max(0, excerpt.index(mark) - _MARGIN) : excerpt.index(mark) + len(mark)]
    what = "was kept" if parted is None else f"crossed {parted.name}"
    return finding(
        "PW702" if parted is None else "PW703",
        f"{named(seen.viewer)} met {mark} in {seen.channel} by {seen.op} #{seen.probe}: a word that only the model's "
        f"faulty answer ({turn.kinds}) to {named(turn.owner)}'s #{turn.probe} held, so it {what}",
        boundary=parted.label if parted is not None else "none",
        owner=turn.owner,
        observer=seen.viewer,
        channel=seen.channel,
        carrier="plain",
        evidence=[Evidence(seen.probe, seen.op, "", excerpt, at=seen.at)],
        kind=(seen.op, turn.kinds),
    )


def _foreign(exposure: Exposure, turns: tuple[StruckTurn, ...]) -> list[Finding]:
    """Canaries of others, from the first struck turn on: a failed turn must not leave its context to the next."""
    first = min(turns, key=lambda turn: turn.call.at)
    found: dict[tuple[str, RawPath], Finding] = {}
    for sight in exposure.sights:
        seen = sight.observation
        if sight.crossed is None or seen.started < first.call.at or seen.channel not in (Channel.PROMPT, Channel.REPLY):
            continue
        owner = sight.owner.path if sight.owner else None
        claim = (
            f"{named(seen.viewer)} was shown {named(owner) if owner else 'an unknown owner'}'s canary "
            f"{sight.opened.short} in {seen.channel} by {seen.op} #{seen.probe}, after #{first.probe} was hit by "
            f"{first.kinds}: crossed {sight.crossed.name}"
        )
        found.setdefault(
            (seen.channel, seen.viewer),
            finding(
                "PW703",
                claim,
                boundary=sight.crossed.label,
                owner=owner,
                observer=seen.viewer,
                channel=seen.channel,
                carrier="plain",
                evidence=[evidence_of(sight, exposure.history.header.prefix)],
                kind=(seen.op, "canary"),
            ),
        )
    return list(found.values())


def _healed(history: History, exposure: Exposure, turns: tuple[StruckTurn, ...]) -> list[Control]:
    """A healthy turn afterwards in each struck session, and one in another tenant, each with a prompt that was caught
    and shows its asker's own content: silence proves nothing where nothing was looked at."""
    controls: list[Control] = []
    prompts = prompts_of(history)
    own = {(sight.observation.probe, sight.observation.channel) for sight in exposure.sights if sight.crossed is None}
    healthy = [
        seen
        for seen in exposure.observations
        if seen.channel == Channel.REPLY and seen.known and not seen.denied and seen.probe in prompts
    ]
    struck = {turn.probe for turn in turns}
    for owner in dict.fromkeys(turn.owner for turn in turns):
        last = max(turn.end or turn.call.at for turn in turns if turn.owner == owner)
        after = [seen for seen in healthy if seen.started >= last and seen.probe not in struck]
        for name, looks in (
            (f"a healthy turn of {named(owner)} afterwards", [seen for seen in after if seen.viewer == owner]),
            ("a healthy turn in another tenant afterwards", [seen for seen in after if seen.viewer[0] != owner[0]]),
        ):
            passed = any((seen.probe, Channel.PROMPT) in own for seen in looks)
            why = "its prompt did not show its own content" if looks else "there was none"
            controls.append(Control(name, Channel.PROMPT, passed, f"#{looks[0].probe}" if passed else why))
    return controls


def _later(observations: Iterable[Observation], turn: StruckTurn) -> Iterable[Observation]:
    return (seen for seen in observations if seen.started >= (turn.end or turn.call.at) and seen.probe != turn.probe)


CHECK = Check(
    id="no_bleed",
    title="nothing of a faulty answer outlives its turn",
    guarantee=Guarantee.RESILIENCE,
    codes=frozenset({"PW702", "PW703"}),
    needs=frozenset({"run_turn"}),
    judge=judge,
)
