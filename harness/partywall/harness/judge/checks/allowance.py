"""Check `allowance`: whoever sends too much is refused, and nobody else for it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from ...observe.history import History, Invoked
from ...observe.outcome import UNSENT
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.operation import OPERATIONS
from ...plan.promised import promised
from ..check import Check, conclude
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict

User = tuple[str, str]
LIMITED = "limited"


def judge(history: History) -> Verdict:
    """Violated where a call was refused as too many of one who had sent no more than a user may at once, while the
    calls of its tenant that may have been served were below what a tenant may.

    Only served calls count against a tenant: were the refused ones counted too, one user's rush would use up what its
    neighbours have. A call in flight counts as sent, and as served where it was not refused. A user beyond its own
    burst is never judged, whatever has been refilled since.
    """
    promises = history.header.capabilities.promises
    burst = promised(promises, "rate_limit.user") or math.inf
    shared = promised(promises, "rate_limit.tenant") or math.inf
    calls = _calls(history)
    by_user, by_tenant = _Begun(), _Begun()
    for call in calls:
        by_user.add(call.caller, call)
        if not _refused(history, call):
            by_tenant.add(call.caller[0], call)
    rushed: list[Invoked] = []
    wronged: dict[User, list[Invoked]] = {}
    for call in calls:
        if _refused(history, call):
            ended = history.completions[call.probe].at
            if by_user.before(call.caller, ended) > burst:
                rushed.append(call)
            elif by_tenant.before(call.caller[0], ended) < shared:
                wronged.setdefault(call.caller, []).append(call)
    since = min((history.completions[call.probe].at for call in rushed), default=0)
    quiet = {call.caller for call in calls if by_user.before(call.caller, math.inf) <= burst}
    allowed = {
        call.caller for call in calls if rushed and call.at > since and history.outcome(call.probe).status == "ok"
    }
    over = any(by_user.before(call.caller, math.inf) > burst for call in calls)
    meant = Guarantee.NONINTERFERENCE in history.header.exercises
    covered = (over and meant) or bool(rushed and quiet & allowed)
    return conclude(
        "allowance",
        Guarantee.NONINTERFERENCE,
        [_finding(user, refused, rushed) for user, refused in wronged.items()],
        list(_controls({call.caller for call in rushed}, quiet & allowed)) if covered else (),
        covered=covered,
        reason="" if covered else "nobody sent more at once than one user may, beside others",
        checked=sum(call.caller in quiet for call in calls),
        total=len(calls),
    )


class _Begun:
    """How many calls of whom had been sent by an instant."""

    def __init__(self) -> None:
        self._at: dict[object, list[int]] = defaultdict(list)

    def add(self, whose: object, call: Invoked) -> None:
        self._at[whose].append(call.at)

    def before(self, whose: object, instant: float) -> int:
        return bisect_left(self._at[whose], instant)


def _calls(history: History) -> list[Invoked]:
    """Calls of ordinary users that were answered, in the order in which they were sent."""
    found = []
    for probe, call in history.invocations.items():
        operation = OPERATIONS.get(call.op)
        ordinary = operation is not None and not operation.operator and call.credential == "valid"
        if ordinary and probe in history.completions and history.outcome(probe).code != UNSENT:
            found.append(call)
    return sorted(found, key=lambda call: call.at)


def _refused(history: History, call: Invoked) -> bool:
    return history.outcome(call.probe).code == LIMITED


def _controls(rushers: set[User], served: set[User]) -> Iterator[Control]:
    who = ", ".join(named(user) for user in sorted(rushers))
    yield Control("whoever sent too much was refused for it", Channel.ERRORS, bool(rushers), who or "nobody was")
    who = ", ".join(named(user) for user in sorted(served))
    yield Control("somebody else was served from then on", Channel.ACK, bool(served), who or "nobody was")


def _finding(user: User, calls: list[Invoked], rushed: list[Invoked]) -> Finding:
    first = calls[0]
    rusher = rushed[0].caller if rushed else None
    why = f" while {named(rusher)} was sending too much" if rusher else ""
    crossed = "tenant" if rusher is None or rusher[0] != user[0] else "user"
    claim = (
        f"{named(user)} was refused {first.op} #{first.probe} as too many{why} ({len(calls)} times): it had sent no "
        "more than one may at once"
    )
    return finding(
        "PW901",
        claim,
        boundary=crossed,
        owner=(*user, "", ""),
        observer=(*(rusher or user), "", ""),
        channel=Channel.ERRORS,
        carrier="plain",
        evidence=[Evidence(call.probe, call.op, "", LIMITED, at=call.at) for call in calls[:5]],
        kind=(crossed,),
    )


CHECK = Check(
    id="allowance",
    title="one owner's rush does not refuse another",
    guarantee=Guarantee.NONINTERFERENCE,
    codes=frozenset({"PW901"}),
    needs=frozenset({"list_sessions | session_info", "promises.rate_limit"}),
    judge=judge,
)
