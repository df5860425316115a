"""Check `layers`: what was said for one task or session is not kept as the user's; what is, is in the user's hands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from partywall.canaries import Level

from ...observe.history import History, Invoked, Sown
from ...observe.outcome import NOT_IMPLEMENTED, UNSENT
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.operation import ANY_WRITE
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..provenance import Sight
from ..testimony import evidence_of, finding, named
from ..timeline import timeline_of
from ..verdict import Control, Evidence, Finding, Verdict

_ENDING = ("put_fact", "delete_fact", "purge")
_WORKING = (Channel.CONTEXT, Channel.PROMPT, Channel.REPLY)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A fact that its user put into the user layer; `until` is when the key was put again, deleted or purged."""

    sown: Sown
    call: Invoked
    since: int
    until: float


def judge(history: History) -> Verdict:
    """Violated where a note for a task or session shows as a fact in another session of its user, or calls itself the
    user's (PW321), or where a fact of the user layer works on answers and is in no list, or outlives its deletion by
    its user (PW323).

    A fact that is in no list and nowhere else either was dropped, which is a matter of controls: nobody is kept from
    what is not there.
    """
    exposure = exposure_of(history)
    notes = [entry for entry in history.sown if _narrow(history, entry)]
    kept = list(_kept(history))
    findings = [*_promoted(exposure, notes), *_out_of_hand(history, exposure, kept)]
    controls = list(_controls(history, exposure, notes, kept))
    return conclude(
        "layers",
        Guarantee.ISOLATION,
        findings,
        controls,
        covered=bool(controls),
        reason="" if controls else "nobody looked at facts from another session after a note and a user's fact",
        checked=len(notes),
        total=len(history.sown),
    )


def _narrow(history: History, entry: Sown) -> bool:
    """Whether it was put in for a session or a task only, and taken."""
    call = history.invocations[entry.probe]
    own = call.caller == call.scope[:2] == entry.canary.owner.path[:2]
    narrow = entry.canary.reach.get(str(Channel.FACTS), entry.canary.reach.get("*", Level.TASK)) > Level.USER
    return own and narrow and call.op != "add_memory" and history.outcome(entry.probe).status == "ok"


def _kept(history: History) -> Iterator[_Kept]:
    for entry in history.sown:
        call = history.invocations[entry.probe]
        own = call.caller == call.scope[:2] == entry.canary.owner.path[:2]
        if call.op != "put_fact" or call.arguments.get("layer") != "user" or not own:
            continue
        if history.outcome(entry.probe).status == "ok":
            since = history.completions[entry.probe].at
            later = timeline_of(history).between(call.scope[:2], _ENDING, since, math.inf)
            yield _Kept(entry, call, since, next((other.at for other in later if _ends(call, other)), math.inf))


def _ends(put: Invoked, other: Invoked) -> bool:
    return other.op == "purge" or other.arguments.get("key") == put.arguments.get("key")


def _promoted(exposure: Exposure, notes: list[Sown]) -> Iterator[Finding]:
    by_token = {entry.canary.text: entry for entry in notes}
    found: dict[str, list[Sight]] = {}
    for sight in exposure.sights:
        entry = by_token.get(sight.opened.token)
        if entry is None or sight.observation.channel != Channel.FACTS:
            continue
        owner = entry.canary.owner.path
        if sight.observation.viewer[:2] != owner[:2]:
            continue
        elsewhere = sight.observation.viewer[2] != owner[2] and sight.crossed is Level.SESSION
        if elsewhere or _layer_of(exposure.history, sight) == "user":
            found.setdefault(sight.opened.token, []).append(sight)
    prefix = exposure.history.header.prefix
    for token, sights in found.items():
        entry, first = by_token[token], sights[0]
        call = exposure.history.invocations[entry.probe]
        whose = named(entry.canary.owner.path)
        layer = call.arguments.get("layer", "session" if call.op in ("append_turn", "run_turn") else "task")
        claim = (
            f"canary {first.opened.short}, given by {whose} for its {layer} by {call.op} #{entry.probe}, is kept as "
            f"the user's: shown as a fact to {named(first.observation.viewer)} #{first.observation.probe}"
        )
        yield finding(
            "PW321",
            claim,
            boundary="session",
            owner=entry.canary.owner.path,
            observer=first.observation.viewer,
            channel=Channel.FACTS,
            carrier="plain",
            evidence=[evidence_of(sight, prefix) for sight in sights],
            kind=(call.op, str(layer)),
        )


def _layer_of(history: History, sight: Sight) -> str:
    """The layer that the record with the sighting names for itself."""
    value = history.outcome(sight.observation.probe).value
    part = sight.place.split("/")
    if isinstance(value, list) and len(part) > 1 and part[1].isdigit() and int(part[1]) < len(value):
        value = value[int(part[1])]
    return str(value.get("layer", "")) if isinstance(value, Mapping) else ""


def _out_of_hand(history: History, exposure: Exposure, kept: list[_Kept]) -> Iterator[Finding]:
    seen: dict[str, list[Sight]] = {}
    for sight in exposure.sights:
        seen.setdefault(sight.opened.token, []).append(sight)
    for each in kept:
        user = each.call.scope[:2]
        mine = [s for s in seen.get(each.sown.canary.text, ()) if s.observation.viewer[:2] == user]
        lists = _lists(history, each)
        listed = any(sight.observation.op == "list_facts" for sight in mine)
        working = [
            s for s in mine if s.observation.channel in _WORKING and each.since < s.observation.started < each.until
        ]
        if lists and working and not listed:
            what = (
                f"works in {working[0].observation.channel} #{working[0].observation.probe} and is in no list of facts"
            )
            yield _in_no_hand(each, what, working[0].observation.probe, "listed")
        for call in timeline_of(history).between(user, ("delete_fact",), each.since, each.until + 1):
            probe = call.probe
            if call.caller != user or call.arguments.get("key") != each.call.arguments.get("key"):
                continue
            outcome = history.outcome(probe)
            if listed and outcome.status == "fail" and outcome.code not in (UNSENT, NOT_IMPLEMENTED, "limited"):
                yield _in_no_hand(each, f"is listed, and its deletion #{probe} is refused", probe, "refused")
            if outcome.status == "ok":
                yield from _survived(history, each, probe, mine)


def _survived(history: History, each: _Kept, deletion: str, seen: list[Sight]) -> Iterator[Finding]:
    done = history.completions[deletion].at
    later = timeline_of(history).between(each.call.scope[:2], ("put_fact",), each.since, math.inf)
    again = [call.at for call in later if _ends(each.call, call)]
    for sight in seen:
        call = history.invocations[sight.observation.probe]
        now = call.arguments.get("at") is None and not call.arguments.get("include_superseded")
        late = done < sight.observation.started < min(again, default=math.inf)
        if sight.observation.channel == Channel.FACTS and late and now:
            what = f"is still there in #{call.probe} after its user deleted it by #{deletion}"
            yield _in_no_hand(each, what, call.probe, "deleted")
            return


def _lists(history: History, each: _Kept) -> list[Invoked]:
    looks = timeline_of(history).between(each.call.scope[:2], ("list_facts",), each.since, each.until)
    return [call for call in looks if call.caller == call.scope[:2] and history.outcome(call.probe).status == "ok"]


def _controls(history: History, exposure: Exposure, notes: list[Sown], kept: list[_Kept]) -> Iterator[Control]:
    """For each user that put both a note and a fact of its own: whether the fact is seen where the note must not be."""
    shown = {(s.opened.token, s.observation.viewer) for s in exposure.sights if s.observation.channel == Channel.FACTS}
    for each in kept:
        user, home = each.call.scope[:2], each.call.scope[:3]
        mine = [entry for entry in notes if entry.canary.owner.path[:2] == user]
        away = [look for look in _lists(history, each) if look.scope[:3] != home]
        if not mine or not away:
            continue
        seen = any(token == each.sown.canary.text and viewer[:3] != home for token, viewer in shown)
        name = f"{named(user)} sees a fact of the user layer from another session"
        yield Control(name, Channel.FACTS, seen, "" if seen else f"in none of {len(away)} lists")


def _in_no_hand(each: _Kept, what: str, probe: str, kind: str) -> Finding:
    canary = each.sown.canary
    claim = f"{named(canary.owner.path[:2])}'s own fact, canary {canary.short} of #{each.sown.probe}, {what}"
    return finding(
        "PW323",
        claim,
        boundary="user",
        owner=canary.owner.path,
        observer=canary.owner.path,
        channel=Channel.FACTS,
        carrier="plain",
        evidence=[Evidence(probe, "", "", what)],
        kind=(kind,),
    )


CHECK = Check(
    id="layers",
    title="notes stay in their layer, and the user layer is in the user's hands",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset({"PW321", "PW323"}),
    needs=frozenset({ANY_WRITE, "put_fact", "list_facts"}),
    judge=judge,
)
