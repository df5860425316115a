"""Collector: Python's garbage collector rests while a log is judged."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def resting() -> Iterator[None]:
    """No collection until the end of the block, nor after it where there was none before.

    Judging makes no circles, so there is nothing to find; but every collection walks through the whole log again, and
    the larger the log is, the more of them come: a fifth of the time at a million operations.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
