"""Check `archive`: of an archived session the text is gone, and that it was there can still be told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...observe.history import History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.leaves import leaves
from ...plan.promised import promised
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..lifetimes import Clock, Deed, Life, lives_of, ordered
from ..provenance import Sight
from ..testimony import evidence_of, finding, named
from ..verdict import Control, Evidence, Finding, Verdict

_TURNS = ("append_turn", "run_turn")
_SHOWING = (Channel.TURNS, Channel.CONTEXT, Channel.PROMPT, Channel.REPLY)
_KEPT_ELSEWHERE = (Channel.FACTS, Channel.SEARCH, Channel.LIST, Channel.BY_ID)
"""Where a summary, or a memory of the user, may go on telling what the session held."""
_MAIN = "main"


@dataclass(frozen=True, slots=True)
class _Archived:
    """A session that is archived: surely from `since` on; `own` are the tokens of its turns."""

    life: Life
    since: int
    own: frozenset[str]


def judge(history: History) -> Verdict:
    """Violated where a turn of an archived session was shown, or stands in the main store, or where the session
    cannot be asked for any more, or does not say that it is archived.

    Archived is what was acknowledged as such, and what is surely older than lifetime and archive time together. The
    store is judged once the session itself said so: text may be cleared when it is next looked after. What a summary
    or a memory of the user still tells is no text of the session.
    """
    exposure = exposure_of(history)
    clock = Clock(history)
    found = list(_archived(history, clock))
    kept = {sight.opened.token for sight in exposure.sights if sight.observation.channel in _KEPT_ELSEWHERE}
    findings: list[Finding] = []
    controls: list[Control] = []
    for each in found:
        looks = [deed for deed in ordered(each.life, "session_info") if deed.call.at > each.since]
        findings += [*_told(exposure, each, kept), *_untold(each, looks)]
        findings += _at_rest(history, exposure, each, looks, kept)
        controls += _controls(exposure, each, looks)
    unsure = not clock.sure and Guarantee.LIFECYCLE in history.header.exercises
    if unsure:
        controls.append(Control("every move of the clock is known", Channel.ACK, False, "one was lost"))
    return conclude(
        "archive",
        Guarantee.LIFECYCLE,
        findings,
        controls,
        covered=bool(found) or unsure,
        reason="" if found or unsure else "no session was archived",
        checked=len(found),
        total=len(found),
    )


def _archived(history: History, clock: Clock) -> Iterator[_Archived]:
    """Sessions that held turns and are archived, each from the earliest instant that is sure."""
    promises = history.header.capabilities.promises
    lifetime, after = promised(promises, "lifetime"), promised(promises, "archive_after")
    for life in lives_of(history, clock):
        own = frozenset(
            entry.canary.text
            for entry in history.sown
            if entry.canary.owner.path[:3] == life.path
            and history.invocations[entry.probe].op in _TURNS
            and history.outcome(entry.probe).status == "ok"
        )
        since = life.archived
        if since is None and clock.sure and lifetime is not None and after is not None:
            old = [deed for deed in life.deeds if deed.age.least > lifetime + after]
            since = old[0].call.at - 1 if old else None
        if since is not None and own:
            yield _Archived(life, since, own)


def _told(exposure: Exposure, each: _Archived, kept: set[str]) -> Iterator[Finding]:
    shown: dict[str, list[Sight]] = {}
    for sight in exposure.sights:
        observation = sight.observation
        late = observation.started > each.since and observation.channel in _SHOWING
        turns = observation.channel == Channel.TURNS
        if late and sight.opened.token in each.own and (turns or sight.opened.token not in kept):
            shown.setdefault(observation.channel, []).append(sight)
    prefix = exposure.history.header.prefix
    for channel, sights in shown.items():
        first = sights[0]
        claim = (
            f"{named(each.life.path)} is archived, and its canary {first.opened.short} was shown in {channel} "
            f"#{first.observation.probe} ({len(sights)} times)"
        )
        yield _finding("PW304", claim, each, channel, [evidence_of(sight, prefix) for sight in sights])


def _untold(each: _Archived, looks: Iterable[Deed]) -> Iterator[Finding]:
    for deed in looks:
        value = deed.outcome.value
        state = value.get("state") if deed.outcome.status == "ok" and isinstance(value, dict) else None
        if deed.outcome.status == "info" or state == "archived":
            continue
        told = f"says {state!r}" if deed.outcome.status == "ok" else f"is refused as {deed.outcome.code or 'unknown'}"
        claim = f"{named(each.life.path)} is archived, and session_info #{deed.call.probe} {told}"
        evidence = [Evidence(deed.call.probe, deed.call.op, "", told, at=deed.call.at)]
        yield _finding("PW305", claim, each, Channel.ACK, evidence)
        return


def _at_rest(
    history: History, exposure: Exposure, each: _Archived, looks: Iterable[Deed], kept: set[str]
) -> Iterator[Finding]:
    said = [deed.at for deed in looks if deed.outcome.status == "ok"]
    for probe, call in history.invocations.items():
        outcome = history.outcome(probe)
        if call.op != "stored_bytes" or outcome.status != "ok" or not any(at < call.at for at in said):
            continue
        held = {
            token
            for pointer, text in leaves({_MAIN: outcome.value.get(_MAIN, [])})
            if pointer.count("/") > 1
            for token in exposure.provenance.tokens(text)
        }
        left = (held & each.own) - kept
        if left:
            claim = (
                f"{named(each.life.path)} is archived, and {len(left)} of its turns' canaries stand in the main store "
                f"#{probe}"
            )
            evidence = [Evidence(probe, "stored_bytes", f"/{_MAIN}", "", at=call.at)]
            yield _finding("PW304", claim, each, Channel.BYTES, evidence)
            return


def _controls(exposure: Exposure, each: _Archived, looks: list[Deed]) -> list[Control]:
    before = any(
        sight.opened.token in each.own and sight.observation.at < each.since and sight.observation.channel in _SHOWING
        for sight in exposure.sights
    )
    answered = any(deed.outcome.status != "info" for deed in looks)
    whose = named(each.life.path)
    return [
        Control(
            f"{whose} showed its turns before it was archived", Channel.TURNS, before, "" if before else "it did not"
        ),
        Control(f"{whose} was asked for afterwards", Channel.ACK, answered, "" if answered else "it was not"),
    ]


def _finding(code: str, claim: str, each: _Archived, channel: str, evidence: list[Evidence]) -> Finding:
    return finding(
        code,
        claim,
        boundary="session",
        owner=each.life.scope,
        observer=each.life.scope,
        channel=channel,
        carrier="plain",
        evidence=evidence,
        kind=(channel,),
    )


CHECK = Check(
    id="archive",
    title="of an archived session the text is gone and the rest can be told",
    guarantee=Guarantee.LIFECYCLE,
    codes=frozenset({"PW304", "PW305"}),
    needs=frozenset({"append_turn | run_turn", "session_info", "archive_session | advance_clock"}),
    judge=judge,
)
