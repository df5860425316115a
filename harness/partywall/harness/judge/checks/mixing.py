"""Check `mixing`: the counter-proof that a session's tasks stand side by side where no task filter is applied."""

from __future__ import annotations

from collections import defaultdict

from partywall.canaries import Level

from ...observe.history import History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ..check import Check, conclude
from ..exposure import exposure_of
from ..testimony import named
from ..verdict import Control, Verdict


def judge(history: History) -> Verdict:
    """Held where a bare turn listing showed canaries of two tasks: then a context that holds only one was filtered.

    Never violated: a target that stores tasks apart shows one task in the listing and needs no filter.
    """
    exposure = exposure_of(history)
    tasks: dict[str, set[str]] = defaultdict(set)
    planted: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for sown in exposure.provenance.canaries:
        owner = sown.canary.owner.path
        planted[owner[:3]].add(owner[3])
    for sight in exposure.sights:
        if sight.observation.channel == Channel.TURNS and sight.owner is not None and sight.crossed is None:
            tasks[sight.observation.probe].add(sight.owner.task)
    several = [session for session, names in planted.items() if len(names) > 1]
    mixed = next((probe for probe, names in tasks.items() if len(names) > 1), "")
    covered = bool(several) and bool(mixed) and Level.TASK in history.header.capabilities.dimensions
    reason = (
        "" if covered else "no turn listing showed two tasks of one session" if several else "no session had two tasks"
    )
    control = (
        Control("the listing shows both tasks", Channel.TURNS, True, f"in {mixed} of {named(several[0])}")
        if covered
        else None
    )
    return conclude("mixing", Guarantee.ISOLATION, (), [control] if control else (), covered=covered, reason=reason)


CHECK = Check(
    id="mixing",
    title="the unfiltered view does mix tasks",
    guarantee=Guarantee.ISOLATION,
    codes=frozenset(),
    needs=frozenset({"append_turn | run_turn", "list_turns"}),
    judge=judge,
)
