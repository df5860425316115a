"""The garbage collector rests while a log is judged, and is left as it was."""

from __future__ import annotations

import gc

import pytest
from partywall.harness.judge.append_log import log_of, violations_of


@pytest.mark.parametrize("collecting", [True, False])
def test_judging_leaves_the_garbage_collector_as_it_was(collecting: bool) -> None:
    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        violations_of(log_of([], []))
        with pytest.raises(AttributeError):
            violations_of(None)  # type: ignore[arg-type]
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()
