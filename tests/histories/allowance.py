"""Golden histories of the check `allowance`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from partywall.canaries import Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OTHER_TENANT, OTHER_USER, World

USER, TENANT = 3, 6
SERVED = Outcome("ok", ["s1"])
LIMITED = Outcome("fail", reason="too many calls", code="limited")
LOST = Outcome("info", reason="no answer within 10 s", code="timeout")


def _rushed(
    *neighbours: tuple[Scope, Outcome],
    rush: Sequence[Outcome] = (SERVED, SERVED, SERVED, LIMITED, LIMITED),
    promises: Any = None,
    limited: bool = False,
) -> History:
    """Ann sends five at once of three that she may; then these neighbours send one each."""
    given = {"rate_limit": {"user": USER, "tenant": TENANT}} if promises is None else promises
    world = World(*EVERYTHING, "list_sessions", promises=given)
    for outcome in rush:
        world.call("list_sessions", ANN, outcome)
    for scope, outcome in neighbours:
        world.call("list_sessions", scope, outcome)
    if limited:
        world.recorder.limited("list_sessions: answer larger than 8,000,000 characters")
    history = world.history
    return History(replace(history.header, exercises=("noninterference",)), history.entries)


_BOTH = ((OTHER_USER, SERVED), (OTHER_TENANT, SERVED))
_FAST = (SERVED,) * 6 + (LIMITED,)

HISTORIES = {
    "held.neighbours_are_served": lambda: _rushed(*_BOTH),
    "held.refilled_meanwhile": lambda: _rushed(*_BOTH, rush=(*(SERVED,) * 4, LIMITED)),
    "held.the_tenant_is_used_up": lambda: _rushed((OTHER_USER, LIMITED), (OTHER_TENANT, SERVED), rush=_FAST),
    "violated.PW901-another_tenant": lambda: _rushed((OTHER_USER, SERVED), (OTHER_TENANT, LIMITED)),
    "violated.PW901-another_user": lambda: _rushed((OTHER_USER, LIMITED), (OTHER_TENANT, SERVED)),
    "violated.PW901-refused_too_soon": lambda: _rushed(*_BOTH, rush=(SERVED, LIMITED, LIMITED, LIMITED, LIMITED)),
    "inconclusive.nobody_was_refused": lambda: _rushed(*_BOTH, rush=(SERVED,) * 5),
    "inconclusive.neighbours_were_lost": lambda: _rushed((OTHER_USER, LOST), (OTHER_TENANT, LOST)),
    "inconclusive.limit_hit": lambda: _rushed(*_BOTH, limited=True),
    "not_covered.nobody_sent_too_much": lambda: _rushed(*_BOTH, rush=(SERVED, SERVED)),
    "not_covered.no_promise": lambda: _rushed(*_BOTH, promises={}),
}
