"""Check `unblocked`: a session takes writes while a turn of it waits for its model."""

from __future__ import annotations

from dataclasses import dataclass

from ...observe.history import History, Invoked, Seen
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ..check import Check, conclude
from ..struck import StruckTurn, struck_turns
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict

LONG = 1_000_000_000
"""Nanoseconds that a turn must have waited for its model before anything can be said of those who came meanwhile."""
SHORT = 500_000_000
"""Nanoseconds before the end of the wait within which a write may end after it by chance."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """A turn that waited: from the first prompt that was caught of it to its own end."""

    turn: StruckTurn
    start: int
    end: int

    def holds(self, history: History, call: Invoked) -> bool:
        """Whether an append was sent and acknowledged within the wait."""
        done = history.completions.get(call.probe)
        return call.at > self.start and done is not None and done.outcome.status == "ok" and done.at < self.end

    def outlasts(self, history: History, call: Invoked) -> bool:
        """Whether an append was sent beside the turn, well before its end, and had to wait for that end.

        One sent just before the end proves nothing: it may have ended after it by chance.
        """
        done = history.completions.get(call.probe)
        return self.turn.call.at < call.at < self.end - SHORT and (done is None or done.at >= self.end)


def judge(history: History) -> Verdict:
    """Violated where every append to a session ended only after the session's turn had its answer from the model, while
    another session took writes.

    One that was slow proves nothing where others of the session went through: a disk may stall for a second. Where no
    other session took writes either, the whole target waited, and that is another matter.
    """
    appends = [call for call in history.invocations.values() if call.op == "append_turn"]
    waits = [wait for turn in struck_turns(history) if (wait := _wait(history, turn, appends)) is not None]
    findings: list[Finding] = []
    controls: list[Control] = []
    for wait in waits:
        session = wait.turn.call.scope[:3]
        elsewhere = sum(wait.holds(history, call) for call in appends if call.scope[:3] != session)
        here = sum(wait.holds(history, call) for call in appends if call.scope[:3] == session)
        stuck = [call for call in appends if call.scope[:3] == session and wait.outlasts(history, call)]
        controls.append(_control("another session took writes meanwhile", elsewhere))
        if stuck and elsewhere and not here:
            findings.append(_found(wait, stuck))
        else:
            controls.append(_control(f"{named(session)} took writes meanwhile", here))
    return conclude(
        "unblocked",
        Guarantee.RESILIENCE,
        findings,
        controls,
        covered=bool(waits),
        reason="" if waits else "nobody wrote to a session whose turn waited a second for its model",
        checked=len(waits),
        total=len(waits),
    )


def _wait(history: History, turn: StruckTurn, appends: list[Invoked]) -> _Wait | None:
    """None where the turn did not wait long, or nobody tried to write to its session meanwhile."""
    asked = [
        seen.at
        for seen in history.entries
        if isinstance(seen, Seen) and seen.probe == turn.probe and seen.channel == Channel.PROMPT
    ]
    if not asked or turn.end is None or turn.end - min(asked) < LONG:
        return None
    tried = any(call.scope[:3] == turn.call.scope[:3] and turn.call.at < call.at < turn.end for call in appends)
    return _Wait(turn, min(asked), turn.end) if tried else None


def _control(name: str, number: int) -> Control:
    return Control(name, Channel.ACK, number > 0, f"{number} appends were acknowledged while the turn waited")


def _found(wait: _Wait, stuck: list[Invoked]) -> Finding:
    call, waited = wait.turn.call, (wait.end - wait.start) / 1e9
    claim = (
        f"{len(stuck)} appends to {named(call.scope[:3])}, the first #{stuck[0].probe}, ended only when the turn "
        f"#{wait.turn.probe} had waited {waited:.1f} s for its model: a lock is held across the model call"
    )
    return finding(
        "PW224",
        claim,
        boundary="session",
        owner=call.scope,
        observer=stuck[0].scope,
        channel=Channel.ACK,
        carrier="plain",
        evidence=[Evidence(each.probe, each.op, "", "", at=each.at) for each in stuck],
        kind=("session",),
    )


CHECK = Check(
    id="unblocked",
    title="a session takes writes while a turn of it waits for its model",
    guarantee=Guarantee.RESILIENCE,
    codes=frozenset({"PW224"}),
    needs=frozenset({"run_turn", "append_turn"}),
    judge=judge,
)
