"""Observation: who was shown what, by which channel; every check of content reads histories through this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..observe.history import Completed, History, Invoked, Seen
from ..observe.outcome import NOT_IMPLEMENTED, UNSENT
from ..plan.channel import OPERATOR_CHANNELS, Channel
from ..plan.identity import RawPath
from ..plan.leaves import leaves
from ..plan.operation import OPERATIONS


@dataclass(frozen=True, slots=True)
class Observation:
    """One answer, or one text seen elsewhere, as one viewer's.

    `texts` are its leaves with their JSON pointers. `known` is False where the end of the call is unknown: what
    was shown then was not all seen. `denied` is a sure refusal.
    """

    probe: str
    op: str
    channel: str
    viewer: RawPath
    caller: tuple[str, str]
    texts: tuple[tuple[str, str], ...]
    started: int
    at: int
    known: bool = True
    denied: bool = False


def observations(history: History) -> tuple[Observation, ...]:
    """Everything that some scope was shown, in the order of the history; operator views are left out."""
    found: list[Observation] = []
    for entry in history.entries:
        if isinstance(entry, Completed):
            found += _of_answer(history.invocations[entry.probe], entry)
        elif isinstance(entry, Seen) and entry.viewer is not None and entry.channel not in OPERATOR_CHANNELS:
            found.append(_of_sight(history, entry))
    return tuple(found)


def viewer_of(invoked: Invoked) -> RawPath:
    """Whose observation an answer is: the caller's tenant and user, at the session and task addressed.

    B's credential with A's session id makes B the viewer, else reading A's session as B would count as A reading
    its own.
    """
    return (*invoked.caller, invoked.scope[2], invoked.scope[3])


def _of_answer(invoked: Invoked, completed: Completed) -> Iterator[Observation]:
    outcome = completed.outcome
    operation = OPERATIONS.get(invoked.op)
    if operation is None or operation.operator or outcome.code in (UNSENT, NOT_IMPLEMENTED):
        return
    viewer = viewer_of(invoked)
    common = (invoked.at, completed.at, outcome.status != "info", outcome.status == "fail")
    texts = tuple(leaves(outcome.value)) if outcome.status == "ok" else ()
    yield Observation(invoked.probe, invoked.op, operation.channel, viewer, invoked.caller, texts, *common)
    if outcome.reason:
        reason = (("", outcome.reason),)
        yield Observation(invoked.probe, invoked.op, Channel.ERRORS, viewer, invoked.caller, reason, *common)


def _of_sight(history: History, seen: Seen) -> Observation:
    assert seen.viewer is not None
    invoked = history.invocations.get(seen.probe or "")
    caller = invoked.caller if invoked else (seen.viewer[0] or "", seen.viewer[1] or "")
    op = invoked.op if invoked else seen.channel
    started = invoked.at if invoked else seen.at
    texts = (("", seen.text),)
    return Observation(seen.probe or "", op, seen.channel, seen.viewer, caller, texts, started, seen.at)
