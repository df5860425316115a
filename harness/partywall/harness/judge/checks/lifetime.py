"""Check `lifetime`: a session ends at its absolute end, not later for being used and not earlier for being idle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any

from ...observe.history import History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.promised import promised
from ..check import Check, conclude
from ..exposure import exposure_of
from ..lifetimes import Clock, Deed, Life, lives_of, ordered
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict

_TURNS = ("append_turn", "run_turn")
_GONE = ("expired", "not_found")
_OTHERWISE = ("limited", "conflict", "invalid")
"""Refusals that have a reason of their own: they say nothing about the end."""
_OPEN = ("active", "idle")
_SLACK = 1.0
"""Seconds by which a told end may differ from answer to answer: it may be rounded."""


def judge(history: History) -> Verdict:
    """Violated where a session surely past its promised lifetime took a turn or called itself open, told another end
    than before, or, surely before its end, refused a turn as ended or lost one that it had shown.

    Ages are bounded from both sides: at least since the call that founded it was answered, at most since it was first
    named. A write in between proves nothing, so that neither a slow answer nor a founding read can make a right target
    red.
    """
    lifetime = promised(history.header.capabilities.promises, "lifetime")
    assert lifetime is not None  # a need of this check
    clock = Clock(history)
    lives = lives_of(history, clock) if clock.sure else []
    late = [(life, deed) for life in lives for deed in ordered(life, *_TURNS) if deed.age.least > lifetime]
    findings = [
        *_late(lives, late, lifetime),
        *_still_open(lives, lifetime),
        *_moved(lives),
        *_early(lives, lifetime),
        *_lost(history, clock, lives, lifetime),
    ]
    tried = [deed for _, deed in late if deed.outcome.code not in _OTHERWISE]
    meant = Guarantee.LIFECYCLE in history.header.exercises and not clock.sure
    covered = bool(late) or meant
    return conclude(
        "lifetime",
        Guarantee.LIFECYCLE,
        findings,
        _controls(clock, lives, tried, lifetime),
        covered=covered,
        reason="" if covered else "no session was written to after its end",
        checked=len(tried),
        total=len(late),
    )


def _controls(clock: Clock, lives: Iterable[Life], tried: list[Deed], lifetime: float) -> list[Control]:
    before = any(
        deed.taken
        for life in lives
        for deed in ordered(life, *_TURNS)
        if deed.age.most < lifetime and not life.archived
    )
    known = [deed for deed in tried if deed.taken or deed.refused]
    return [
        Control(
            "every move of the clock is known",
            Channel.ACK,
            clock.sure,
            "" if clock.sure else "one was lost, or the target was stopped after it",
        ),
        Control("a turn was taken before the end", Channel.ACK, before, "" if before else "none was"),
        Control(
            "every turn sent after the end was answered",
            Channel.ACK,
            bool(known) and len(known) == len(tried),
            f"{len(known)} of {len(tried)}",
        ),
    ]


def _late(lives: list[Life], late: list[tuple[Life, Deed]], lifetime: float) -> Iterator[Finding]:
    """What is at rest tells a sliding end from none at all: had nothing been refused after its end, activity would be
    no explanation."""
    enforced = any(deed.refused and deed.outcome.code not in _OTHERWISE for _, deed in late)
    told: set[tuple[object, str]] = set()
    for life, deed in late:
        if not deed.taken:
            continue
        activity = _activity(life, deed, lifetime) if enforced else ""
        code = "PW302" if activity else "PW301"
        if (life.path, code) in told:
            continue
        told.add((life.path, code))
        since = f", since it had been {activity} shortly before" if activity else ""
        claim = (
            f"{named(life.path)} took {deed.call.op} #{deed.call.probe} at the age of {deed.age.least:.0f} s{since}: "
            f"its lifetime is {lifetime:g} s"
        )
        yield _finding(code, claim, life, [_evidence(deed, "taken")], (deed.call.op, activity))


def _activity(life: Life, late: Deed, lifetime: float) -> str:
    """By what the end may have slid: calls that were answered within one lifetime before, and not at the founding."""
    earlier = [
        deed
        for deed in life.deeds[1:]
        if deed.outcome.status == "ok" and deed.age.least < lifetime and late.age.most - deed.age.least < lifetime
    ]
    if not earlier:
        return ""
    return "written to" if any(deed.call.op in _TURNS for deed in earlier) else "read"


def _still_open(lives: Iterable[Life], lifetime: float) -> Iterator[Finding]:
    for life in lives:
        for deed in ordered(life, "session_info"):
            state = _field(deed, "state")
            if deed.age.least > lifetime and state in _OPEN:
                claim = (
                    f"{named(life.path)} calls itself {state} in #{deed.call.probe} at the age of {deed.age.least:.0f} "
                    f"s: its lifetime is {lifetime:g} s"
                )
                yield _finding("PW301", claim, life, [_evidence(deed, str(state))], ("session_info",))
                break


def _moved(lives: Iterable[Life]) -> Iterator[Finding]:
    for life in lives:
        told = [(deed, end) for deed in ordered(life, "session_info") if (end := _instant(deed)) is not None]
        for (before, one), (after, other) in pairwise(told):
            if abs(other - one) > _SLACK:
                claim = (
                    f"{named(life.path)} told its end in #{before.call.probe} and one {other - one:+.0f} s from it in "
                    f"#{after.call.probe}"
                )
                evidence = [_evidence(before, f"expires_at {one}"), _evidence(after, f"expires_at {other}")]
                yield _finding("PW302", claim, life, evidence, ("expires_at",))
                break


def _early(lives: Iterable[Life], lifetime: float) -> Iterator[Finding]:
    for life in lives:
        taken: set[str] = set()
        for deed in ordered(life, *_TURNS):
            archived = life.archived is not None and life.archived <= deed.at
            ended = deed.outcome.status == "fail" and deed.outcome.code in _GONE and deed.age.most < lifetime
            if ended and not archived and deed.call.op in taken:
                claim = (
                    f"{named(life.path)} refused {deed.call.op} #{deed.call.probe} as {deed.outcome.code} at the age "
                    f"of {deed.age.most:.0f} s: its lifetime is {lifetime:g} s"
                )
                yield _finding("PW303", claim, life, [_evidence(deed, deed.outcome.code)], (deed.call.op,))
                break
            if deed.taken:
                taken.add(deed.call.op)


def _lost(history: History, clock: Clock, lives: Iterable[Life], lifetime: float) -> Iterator[Finding]:
    """Turns that one full listing showed and a later one does not, where the clock was moved in between and nothing
    else ended, archived or condensed the session."""
    exposure = exposure_of(history)
    shown: dict[str, set[str]] = {}
    for sight in exposure.sights:
        shown.setdefault(sight.observation.probe, set()).add(sight.opened.token)
    own = {entry.canary.text: entry.canary.owner.path[:3] for entry in history.sown}
    bounded = bool({"max_turns", "condense_at"} & set(history.header.capabilities.promises))
    for life in lives:
        looks = [
            deed
            for deed in ordered(life, "list_turns")
            if deed.age.most < lifetime
            and deed.outcome.status == "ok"
            and deed.call.arguments.get("limit") is None
            and not (life.archived is not None and life.archived <= deed.at)
        ]
        for before, after in pairwise(looks):
            gone = {
                token
                for token in shown.get(before.call.probe, set()) - shown.get(after.call.probe, set())
                if own.get(token) == life.path
            }
            if gone and clock.moved(before.at, after.call.at) and not _condensed(before, after, bounded):
                claim = (
                    f"{named(life.path)} showed {len(gone)} turns in #{before.call.probe} that are gone in "
                    f"#{after.call.probe}, {after.age.least - before.age.most:.0f} s later and before its end"
                )
                yield _finding("PW303", claim, life, [_evidence(before, "shown"), _evidence(after, "gone")], ("lost",))
                break


def _condensed(before: Deed, after: Deed, bounded: bool) -> bool:
    """Numbers that begin later declare a head that was taken away; without numbers, nobody can tell where a bound is
    promised. No condensing takes everything."""
    if not after.outcome.value:
        return False
    one, other = _first(before.outcome.value), _first(after.outcome.value)
    return bounded if one is None or other is None else other > one


def _first(turns: Any) -> int | None:
    number = turns[0].get("turn") if turns and isinstance(turns[0], dict) else None
    return number if isinstance(number, int) else None


def _field(deed: Deed, name: str) -> Any:
    value = deed.outcome.value
    return value.get(name) if deed.outcome.status == "ok" and isinstance(value, dict) else None


def _instant(deed: Deed) -> float | None:
    end = _field(deed, "expires_at")
    if isinstance(end, int | float) and not isinstance(end, bool):
        return float(end)
    try:
        return datetime.fromisoformat(end).timestamp() if isinstance(end, str) else None
    except ValueError:
        return None


def _evidence(deed: Deed, what: str) -> Evidence:
    return Evidence(deed.call.probe, deed.call.op, "", f"{what} at the age of {deed.age.least:.0f} s", at=deed.call.at)


def _finding(code: str, claim: str, life: Life, evidence: list[Evidence], kind: Iterable[str]) -> Finding:
    return finding(
        code,
        claim,
        boundary="session",
        owner=life.scope,
        observer=life.scope,
        channel=Channel.ACK,
        carrier="plain",
        evidence=evidence,
        kind=kind,
    )


CHECK = Check(
    id="lifetime",
    title="a session ends at its end, whatever was done in it",
    guarantee=Guarantee.LIFECYCLE,
    codes=frozenset({"PW301", "PW302", "PW303"}),
    needs=frozenset({"append_turn | run_turn", "advance_clock", "promises.lifetime"}),
    judge=judge,
)
