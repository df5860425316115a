"""Attempts: calls that append, gathered into logical appends as far as the target promises idempotence."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...observe.history import Invoked
from ...observe.outcome import UNSENT, Outcome
from .model import INFINITY, Append, Value, Violation

Key = tuple[str | None, ...]
"""Whose log it is: tenant, user, session; and the task, where a target keeps one log for each."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call that appends; `token` is the canary in its text, `end` when its client was answered or gave up."""

    call: Invoked
    outcome: Outcome
    end: int
    key: Key
    token: str

    @property
    def ret(self) -> float:
        """The end of the interval in which it was applied."""
        return INFINITY if self.outcome.status == "info" else self.end

    @property
    def sent(self) -> bool:
        """Whether it ever left for the target."""
        return self.outcome.code != UNSENT

    @property
    def number(self) -> int | None:
        """The acknowledged turn number."""
        value = self.outcome.value
        turn = value.get("turn") if self.outcome.status == "ok" and isinstance(value, dict) else None
        return turn if isinstance(turn, int) and not isinstance(turn, bool) else None


@dataclass(frozen=True, slots=True)
class Gathered:
    """The logical appends of one log; `values` maps each token that may stand there to the append it is one of.

    `opaque` are tokens that nothing can be said about; `violations` are contradictions between attempts themselves.
    """

    appends: tuple[Append, ...]
    values: Mapping[str, Value]
    opaque: frozenset[str]
    violations: tuple[Violation, ...]
    numbered: bool


@dataclass(frozen=True, slots=True)
class Promises:
    """What a target promises of its appends."""

    idempotent: bool
    cas: bool
    counted: bool

    @staticmethod
    def of(promises: Mapping[str, Any]) -> Promises:
        """As an adapter or a profile declares it; nothing is promised by silence."""
        cas = bool(promises.get("cas"))
        return Promises(bool(promises.get("idempotent")), cas, cas and promises.get("version") == "count")


def gather(attempts: Iterable[Attempt], promises: Promises, elsewhere: frozenset[str]) -> Gathered:
    """Logical appends of one log. `elsewhere` are request ids that were acknowledged in another scope, too."""
    groups: dict[Hashable, list[Attempt]] = {}
    for attempt in attempts:
        if not attempt.sent:
            continue  # what never left and is seen all the same is a phantom
        name = attempt.call.request_id
        one = attempt.call.probe if name is None else (attempt.call.op, attempt.call.caller, name)
        groups.setdefault(one, []).append(attempt)
    appends: list[Append] = []
    values: dict[str, Value] = {}
    violations: list[Violation] = []
    unclear = _unclear(groups.values(), promises)
    counts = _counts(groups.values())
    for group in groups.values():
        if any(attempt.token in unclear for attempt in group):
            continue
        made, names, found = _logical(group, promises, elsewhere, counts)
        appends += made
        values |= names
        violations += found
    acknowledged = [attempt for group in groups.values() for attempt in group if attempt.outcome.status == "ok"]
    numbered = bool(acknowledged) and all(attempt.number is not None for attempt in acknowledged)
    return Gathered(tuple(appends), values, unclear, tuple(violations), numbered)


def _unclear(groups: Iterable[list[Attempt]], promises: Promises) -> frozenset[str]:
    """Texts sent more than once by what may be more than one append. Where a retry is not promised to be one append, a
    text that stands twice is right, and so is one that stands once: neither can be called a loss or a repeat."""
    owner: dict[str, int] = {}
    unclear: set[str] = set()
    for number, group in enumerate(groups):
        tokens = {attempt.token for attempt in group}
        unclear |= {token for token in tokens if owner.setdefault(token, number) != number}
        if len(group) > 1 and not promises.idempotent:
            unclear |= tokens
    return frozenset(unclear)


def _counts(groups: Iterable[list[Attempt]]) -> dict[str, int]:
    """How many turns the log held at each version that an append was acknowledged with.

    Retries are left out: a right target may answer one with the first number beside the version of today.
    """
    counts: dict[str, set[int]] = {}
    for attempt in (group[0] for group in groups if len(group) == 1):
        if attempt.number is not None and attempt.outcome.value.get("version") is not None:
            counts.setdefault(repr(attempt.outcome.value["version"]), set()).add(attempt.number)
    return {version: numbers.pop() for version, numbers in counts.items() if len(numbers) == 1}


def _logical(
    group: list[Attempt], promises: Promises, elsewhere: frozenset[str], counts: Mapping[str, int]
) -> tuple[list[Append], dict[str, Value], list[Violation]]:
    """One append of all attempts of a request id, and one refused append for each body that must never appear.

    It ran from the first attempt that may have been applied to the earliest acknowledgement; its value is the body of
    any attempt made by then. A body that came under the id only after that is answered with the first turn, or
    refused, and stored by no right target.
    """
    group = sorted(group, key=lambda attempt: attempt.call.at)
    live = [attempt for attempt in group if attempt.outcome.status != "fail"]
    acknowledged = sorted((each for each in live if each.outcome.status == "ok"), key=lambda each: each.end)
    answered = acknowledged[0].end if acknowledged else INFINITY
    bodies = dict.fromkeys(attempt.token for attempt in live if attempt.call.at <= answered)
    never = [attempt for attempt in group if attempt.token not in bodies]
    appends = [_refused(attempt, promises, counts) for attempt in {each.token: each for each in never}.values()]
    values: dict[str, Value] = {attempt.token: attempt.token for attempt in never}
    if not live:
        return appends, values, []
    told = (acknowledged or live)[0]
    value = next(iter(bodies))
    expected, base = _expected(told, promises, counts)
    # Its number may be that of the other scope's turn: an id that was looked up without its scope.
    borrowed = told.call.request_id in elsewhere
    append = Append(
        told.call.probe,
        told.call.client,
        live[0].call.at,
        answered,
        "ok" if acknowledged else "info",
        value,
        None if borrowed else told.number,
        expected,
        base,
    )
    differing = [
        Violation("TURN-NUMBER-MISMATCH", append, replace(append, id=again.call.probe, number=again.number))
        for again in acknowledged
        if append.number is not None and again.number is not None and again.number != append.number
    ]
    return [append, *appends], {**values, **dict.fromkeys(bodies, value)}, differing


def _refused(attempt: Attempt, promises: Promises, counts: Mapping[str, int]) -> Append:
    expected, base = _expected(attempt, promises, counts)
    conflict = attempt.outcome.code == "conflict" and base is not None and attempt.call.request_id is None
    return Append(
        attempt.call.probe,
        attempt.call.client,
        attempt.call.at,
        attempt.end,
        "fail",
        attempt.token,
        expected=expected,
        base=base,
        conflict=conflict,
    )


def _expected(attempt: Attempt, promises: Promises, counts: Mapping[str, int]) -> tuple[Hashable | None, int | None]:
    """The version that it was conditional on, and how many turns that version is."""
    version = attempt.call.arguments.get("expected_version")
    if version is None or not promises.cas:
        return None, None
    counted = promises.counted and isinstance(version, int) and not isinstance(version, bool)
    return repr(version), version if counted else counts.get(repr(version))
