"""Check `bounded`: a failing model costs a turn three attempts at most, and the turn ends in time."""

from __future__ import annotations

from ...observe.history import History
from ...observe.outcome import TIMEOUT
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ..check import Check, conclude
from ..struck import StruckTurn, delivered_control, struck_turns, told_of, was_due
from ..verdict import Control, Finding, Verdict

MOST_ATTEMPTS = 3
"""How often one context may be sent. Attempts at the *same* text are counted, not model calls: a turn of five tool
rounds calls the model five times and retries nothing."""

_LOST = frozenset({"limit", "contract", "unsent"})


def judge(history: History) -> Verdict:
    """Violated where a struck turn sent the same prompt more than three times, or ran out of the call's deadline."""
    turns = struck_turns(history)
    findings: list[Finding] = []
    controls = [delivered_control(turns)]
    for turn in turns:
        attempts = max(turn.sent.values(), default=0)
        if attempts > MOST_ATTEMPTS:
            findings.append(told_of(turn, "PW704", f"the same prompt was sent {attempts} times", Channel.PROMPT))
        if turn.outcome.code == TIMEOUT:
            findings.append(told_of(turn, "PW705", f"{_wall(turn)}: {turn.outcome.reason}", Channel.REPLY))
        if not attempts:
            controls.append(_failed(turn, "its prompts were caught", "none was, so attempts could not be counted"))
        if turn.end is None or turn.outcome.code in _LOST:
            controls.append(_failed(turn, "its end was seen", turn.outcome.reason or "it was not"))
    return conclude(
        "bounded",
        Guarantee.RESILIENCE,
        findings,
        controls,
        covered=was_due(history),
        reason="" if turns else "no turn was struck by a fault",
        checked=len(turns),
        total=len({fault.probe for fault in history.faults}),
    )


def _failed(turn: StruckTurn, name: str, detail: str) -> Control:
    return Control(f"#{turn.probe}: {name}", Channel.PROMPT, False, detail)


def _wall(turn: StruckTurn) -> str:
    return f"no answer after {((turn.end or turn.call.at) - turn.call.at) / 1e9:.1f} s"


CHECK = Check(
    id="bounded",
    title="a failing model costs bounded attempts and time",
    guarantee=Guarantee.RESILIENCE,
    codes=frozenset({"PW704", "PW705"}),
    needs=frozenset({"run_turn | cached_answer"}),
    judge=judge,
)
