"""Check `typed_failure`: a turn whose model failed says so, and never passes for one that went well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...observe.history import History
from ...observe.outcome import TIMEOUT
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ...plan.leaves import leaves
from ..check import Check, conclude
from ..struck import StruckTurn, delivered_control, struck_turns, told_of, was_due
from ..verdict import Control, Finding, Verdict

_FILTERABLE = frozenset({"sensitive-echo"})
"""Faults whose answer has words that may be shown once what is sensitive was taken out of it."""

_BEHIND = frozenset({"http_502", "http_503", "http_504"})
"""Statuses that say of themselves that what stands behind the agent failed (RFC 9110, 15.6): a type, unlike 500."""

_UNSEEN = frozenset({TIMEOUT, "limit", "contract", "unsent"})
"""Ends that say nothing of how the agent answers: `bounded` judges the late one, the others are the harness's."""


def judge(history: History) -> Verdict:
    """Violated where a turn that got nothing but faulty answers was answered with nothing, with the faulty text or with
    a claim of success, or fell over without a type. A retry that was answered well makes success the truth."""
    turns = struck_turns(history)
    findings: list[Finding] = []
    controls = [delivered_control(turns)]
    for turn in turns:
        control, found = _judged(turn)
        controls += [control] if control else []
        findings += [found] if found else []
    return conclude(
        "typed_failure",
        Guarantee.RESILIENCE,
        findings,
        controls,
        covered=was_due(history),
        reason="" if turns else "no turn was struck by a fault",
        checked=len(turns),
        total=len(turns),
    )


def _judged(turn: StruckTurn) -> tuple[Control | None, Finding | None]:
    outcome = turn.outcome
    name = f"#{turn.probe} tells how it was answered"
    if outcome.code in _UNSEEN or turn.end is None:
        return Control(name, Channel.REPLY, False, outcome.reason or "no end was seen"), None
    if outcome.code in _BEHIND:
        return Control(name, Channel.ERRORS, True, f"refused as {outcome.code}"), None
    if outcome.status == "info":
        return None, told_of(turn, "PW707", f"it fell over without a type ({outcome.reason[:120]})", Channel.ERRORS)
    if outcome.status == "fail":
        return Control(name, Channel.ERRORS, True, f"refused as {outcome.code}"), None
    shown = _shown_mark(turn)
    if shown:
        return None, told_of(turn, "PW706", f"the faulty text itself was shown ({shown})", Channel.REPLY)
    if not _text(outcome.value).strip():
        return None, told_of(turn, "PW706", "it was answered with nothing, as if that were an answer", Channel.REPLY)
    if turn.recovered:
        return Control(name, Channel.REPLY, True, "a later attempt was answered as it should be"), None
    if _owns_up(outcome.value):
        return Control(name, Channel.REPLY, True, "degraded, with guidance or llm_used false"), None
    if turn.kinds in _FILTERABLE:
        return Control(name, Channel.REPLY, True, "answered without what was sensitive"), None
    if isinstance(outcome.value, Mapping) and outcome.value.get("llm_used") is True:
        return None, told_of(turn, "PW706", "it was answered as if the model had been used well", Channel.REPLY)
    # plain words may be an honest "try again later" or a made-up success: nothing here can tell the two apart
    return Control(name, Channel.REPLY, False, "the reply has neither guidance nor llm_used"), None


def _text(value: Any) -> str:
    return str(value.get("text") or "") if isinstance(value, Mapping) else value if isinstance(value, str) else ""


def _owns_up(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return bool(value.get("guidance")) or value.get("llm_used") is False or value.get("blocked") is True


def _shown_mark(turn: StruckTurn) -> str:
    texts = [text for _, text in leaves(turn.outcome.value)]
    return next((mark for mark in turn.marks if any(mark in text for text in texts)), "")


CHECK = Check(
    id="typed_failure",
    title="a turn whose model failed says so",
    guarantee=Guarantee.RESILIENCE,
    codes=frozenset({"PW706", "PW707"}),
    needs=frozenset({"run_turn | cached_answer"}),
    judge=judge,
)
