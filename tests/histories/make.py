"""Makes the golden histories of this folder: `python -m tests.histories.make` from the root of the repository.

A file is named `<check>.<held|violated|inconclusive|not_covered>.<what>.jsonl`: the name is the expectation. The
first word of a violated one's `<what>` is the code to be found, and the only one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from partywall.harness.observe.history import History
from partywall.harness.observe.journal import write

from . import (
    allowance,
    append_log,
    archive,
    attribution,
    bounded,
    cache_keys,
    carried,
    claimed_identity,
    control,
    delivery,
    erasure,
    existence,
    keying,
    layer_writes,
    layers,
    leak,
    ledger,
    lifetime,
    mixing,
    no_bleed,
    no_effect,
    secrecy,
    session_canary,
    session_size,
    supersession,
    takeover,
    typed_failure,
    unblocked,
)

_CHECKS = (
    allowance,
    append_log,
    archive,
    attribution,
    bounded,
    cache_keys,
    carried,
    claimed_identity,
    control,
    delivery,
    erasure,
    existence,
    keying,
    layer_writes,
    layers,
    leak,
    ledger,
    lifetime,
    mixing,
    no_bleed,
    no_effect,
    secrecy,
    session_canary,
    session_size,
    supersession,
    takeover,
    typed_failure,
    unblocked,
)

HISTORIES: Mapping[str, Callable[[], History]] = {
    f"{check.__name__.rpartition('.')[2]}.{name}": make for check in _CHECKS for name, make in check.HISTORIES.items()
}
"""How each history is made, by the name of its file without `.jsonl`."""


def make(folder: Path) -> None:
    """Write every golden history into `folder`."""
    for name, history in HISTORIES.items():
        write([history()], folder / f"{name}.jsonl")


if __name__ == "__main__":
    make(Path(__file__).parent)
