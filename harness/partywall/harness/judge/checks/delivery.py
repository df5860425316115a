"""Check `delivery`: a fault that was asked for did strike, and the agent took what it was answered."""

from __future__ import annotations

from ...observe.history import Faulted, History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.trial import STEADY
from ..check import Check, conclude
from ..verdict import Control, Verdict


def judge(history: History) -> Verdict:
    """Held where each fault that was due was taken at least once. It is never violated: a fault that did not arrive is
    no fault of the agent, only no proof of anything."""
    due: dict[str, list[Faulted]] = {}
    for entry in history.faults:
        due.setdefault(entry.fault, []).append(entry)
    controls = [_control(fault, entries) for fault, entries in due.items()]
    trial = history.header.trial.fault
    if not due and trial != STEADY:
        controls.append(Control(f"fault {trial} strikes a call", Channel.PROMPT, False, "none was due in this history"))
    return conclude(
        "delivery",
        Guarantee.RESILIENCE,
        (),
        controls,
        covered=bool(controls),
        reason="" if controls else "no fault was asked for",
        checked=sum(entry.delivered for entries in due.values() for entry in entries),
        total=sum(len(entries) for entries in due.values()),
    )


def _control(fault: str, entries: list[Faulted]) -> Control:
    taken = sum(entry.delivered for entry in entries)
    mine = sum(entry.delivered and entry.probe is not None for entry in entries)
    told = f"{taken} of {len(entries)} were" + (f", {taken - mine} of them in nobody's turn" if taken > mine else "")
    return Control(f"fault {fault} was delivered", Channel.PROMPT, mine > 0, told)


CHECK = Check(
    id="delivery",
    title="every fault that was asked for was delivered",
    guarantee=Guarantee.RESILIENCE,
    codes=frozenset(),
    needs=frozenset({"run_turn | cached_answer"}),
    judge=judge,
)
