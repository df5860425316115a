"""Sample: which records are looked at deeply, and what that may cost."""

from __future__ import annotations

import time
from collections.abc import Callable

from partywall.canaries import UsageError

from .hashing import Hashes

DEFAULT_RATE = 0.001
_BURST = 1.0


class Sample:
    """A share of all sessions, chosen by keyed hash: a higher rate keeps the sample of a lower one.

    `rate` is from 0 to 1: UsageError otherwise. A session is in or out as a whole. Ids are hashed, never cut: the
    tail of sequential trace ids sampled none of 200,000.
    """

    def __init__(self, hashes: Hashes, rate: float = DEFAULT_RATE) -> None:
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise UsageError(f"sample rate must be a share from 0 to 1, got {rate!r}")
        self.rate = float(rate)
        self._hashes = hashes

    def takes(self, name: str) -> bool:
        """Whether the session, trace or request `name` belongs to the sample."""
        return self._hashes.fraction(name) < self.rate


class Budget:
    """A token bucket of processor time: deep looks may cost `share` of a core, saved up for a second at most.

    A share of 1 is no limit. What was spent beyond the bucket is paid back before the next look.
    """

    def __init__(self, share: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        if not 0 < share <= 1:
            raise UsageError(f"budget must be a share of a core above 0 and up to 1, got {share!r}")
        self._share = share
        self._clock = clock
        self._filled = clock()
        self._saved = _BURST * share

    def allows(self) -> bool:
        """Whether there is time left for one more look."""
        if self._share >= 1:
            return True
        now = self._clock()
        self._saved = min(_BURST * self._share, self._saved + (now - self._filled) * self._share)
        self._filled = now
        return self._saved > 0

    def spend(self, seconds: float) -> None:
        """A look has cost so much."""
        self._saved -= seconds
