"""A schedule under a fault: the marked probes are struck, or all that ask the model where none is marked."""

from __future__ import annotations

import random
from dataclasses import replace

from partywall.canaries import Keyring, Level
from partywall.harness.plan import Planting, Schedule, Script


def _schedule(marked: bool) -> Schedule:
    script = Script(Planting(Keyring.derive(b"a key for tests, long enough to mint", "test")), random.Random(1))
    one, other = script.pair(Level.TENANT)
    script.phase(script.probe("append_turn", one, text="a"), script.probe("cached_answer", one, query="q"))
    script.phase(
        replace(script.probe("run_turn", one, text="b"), faulted=marked), script.probe("run_turn", other, text="c")
    )
    return script.schedule()


def _struck(schedule: Schedule) -> list[str]:
    return [probe.id for probe in schedule.probes if probe.call.fault]


def test_only_marked_probes_are_struck() -> None:
    schedule = _schedule(marked=True).under("exception")
    assert _struck(schedule) == ["p3"]
    assert {probe.call.fault for probe in schedule.probes} == {"", "exception"}


def test_where_none_is_marked_all_that_ask_the_model_are_struck() -> None:
    assert _struck(_schedule(marked=False).under("exception")) == ["p2", "p3", "p4"]


def test_no_fault_changes_no_schedule_that_marks_none() -> None:
    for healthy in ("steady", "normal"):
        assert _schedule(marked=False).under(healthy) == _schedule(marked=False)
    assert _schedule(marked=True).under("steady") == _schedule(marked=True)


def test_the_healthy_fault_is_delivered_to_marked_probes_so_that_delivery_can_be_shown() -> None:
    assert _struck(_schedule(marked=True).under("normal")) == ["p3"]
