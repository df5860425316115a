"""Check `carried`: a session that was opened to go on from another shows what had been concluded there."""

from __future__ import annotations

from collections.abc import Iterator

from ...observe.history import History, Invoked, Sown
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ..check import Check, conclude
from ..exposure import Exposure, exposure_of
from ..provenance import foundings
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict

_FACTS = ("list_facts", "get_fact")


def judge(history: History) -> Verdict:
    """Violated where a session was founded from another, and a fact of a task that the other had shown before is in no
    list of facts of the same task in the new one.

    A fact that was superseded, deleted or never shown at its source is left out: what is not there cannot be carried.
    """
    exposure = exposure_of(history)
    findings: list[Finding] = []
    controls: list[Control] = []
    founded = list(foundings(history))
    carried = [(call, source) for call, source in founded if history.outcome(call.probe).status == "ok"]
    for call, source in carried:
        due = list(_due(history, exposure, call, source))
        looks = _looks(history, call)
        shown = {s.opened.token for s in exposure.sights if s.observation.probe in {look.probe for look in looks}}
        tasks = {look.scope[3] for look in looks}
        asked = [entry for entry in due if entry.canary.owner.task in tasks]
        name = f"{named(source)} had facts to carry, and {named(call.scope[:3])} was asked for them"
        controls.append(Control(name, Channel.FACTS, bool(asked), f"{len(asked)} of {len(due)}"))
        missing = [entry for entry in asked if entry.canary.text not in shown]
        if missing:
            findings.append(_finding(call, source, missing, looks))
    return conclude(
        "carried",
        Guarantee.LIFECYCLE,
        findings,
        controls,
        covered=bool(carried),
        reason="" if carried else "no session was opened to go on from another",
        checked=len(carried),
        total=len(founded),
    )


def _due(history: History, exposure: Exposure, call: Invoked, source: tuple[str | None, ...]) -> Iterator[Sown]:
    """Facts of tasks that stood at the source when the new session was opened: the last look at each showed it."""
    last: dict[str, set[str]] = {}
    for observation in exposure.observations:
        answered = observation.known and not observation.denied and observation.at < call.at
        if answered and observation.op == "list_facts" and observation.viewer[:3] == source:
            last[str(observation.viewer[3])] = {s.opened.token for s in exposure.sights if s.observation is observation}
    for entry in history.sown:
        write = history.invocations[entry.probe]
        concluded = write.op == "put_fact" and write.arguments.get("layer") == "task"
        shown = entry.canary.text in last.get(entry.canary.owner.task, ())
        if concluded and shown and entry.canary.owner.path[:3] == source:
            yield entry


def _looks(history: History, call: Invoked) -> list[Invoked]:
    """Lists of facts that the owner was given in the new session, up to whatever removes some."""
    ended = history.completions[call.probe].at
    found = []
    for look in history.invocations.values():
        if look.at < ended:
            continue
        if look.op in ("delete_fact", "delete_session", "purge", "archive_session", "advance_clock"):
            break
        own = look.caller == look.scope[:2] and look.scope[:3] == call.scope[:3]
        if look.op in _FACTS and own and history.outcome(look.probe).status == "ok":
            found.append(look)
    return found


def _finding(call: Invoked, source: tuple[str | None, ...], missing: list[Sown], looks: list[Invoked]) -> Finding:
    first = missing[0]
    claim = (
        f"{named(call.scope[:3])} was opened by #{call.probe} to go on from {named(source)}, and {len(missing)} facts "
        f"of its tasks are not there, first canary {first.canary.short} of {named(first.canary.owner.path)}"
    )
    return finding(
        "PW308",
        claim,
        boundary="session",
        owner=first.canary.owner.path,
        observer=(*call.scope[:3], first.canary.owner.task),
        channel=Channel.FACTS,
        carrier="plain",
        evidence=[Evidence(look.probe, look.op, "", "not there", at=look.at) for look in looks[:5]],
        kind=("carry",),
    )


CHECK = Check(
    id="carried",
    title="a session that goes on from another has its conclusions",
    guarantee=Guarantee.LIFECYCLE,
    codes=frozenset({"PW308"}),
    needs=frozenset({"create_session", "put_fact", "list_facts"}),
    judge=judge,
)
