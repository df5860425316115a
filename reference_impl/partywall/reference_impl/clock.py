"""The one source of time: everything that expires asks here, so that a test can move it."""

from __future__ import annotations

import time


class Clock:
    """Unix seconds, shifted by what `advance` has added."""

    def __init__(self) -> None:
        self._offset = 0.0

    def now(self) -> float:
        """Unix seconds, as this deployment sees them."""
        return time.time() + self._offset

    def advance(self, seconds: float) -> None:
        """Move on by `seconds` (never back)."""
        if seconds < 0:
            raise ValueError(f"a clock only goes forward, got {seconds}")
        self._offset += seconds
