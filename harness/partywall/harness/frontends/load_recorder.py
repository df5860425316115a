"""Load recorder: stamps at once; reads and redacts at the end, when nobody waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..observe.history import Header, History
from ..observe.outcome import Outcome
from ..observe.recorder import Recorder
from ..plan import Call, Probe
from ..plan.identity import RawPath


class LateRecorder(Recorder):
    """Keeps what it is told, with the time of telling, until the history is asked for.

    Reading answers and redacting them is most of what recording costs, and between two requests of a load test it is
    time taken from the target. What it holds is redacted before it is written, as with every recorder.
    """

    def __init__(self, header: Header, clock: Callable[[], int] = time.monotonic_ns) -> None:
        super().__init__(header, lambda: self._stamp)
        self._now = clock
        self._stamp = 0
        self._told: list[tuple[int, Callable[..., None], tuple[Any, ...]]] = []

    def invoked(self, probe: Probe, call: Call, client: str) -> None:
        """`call` is about to be sent."""
        self._told.append((self._now(), super().invoked, (probe, call, client)))

    def completed(self, probe: str, outcome: Outcome) -> None:
        """A call has ended."""
        self._told.append((self._now(), super().completed, (probe, outcome)))

    def ended(self, probe: str, understand: Callable[[], Outcome]) -> None:
        """A call has ended; how, `understand` says when the history is asked for."""
        complete = super().completed
        self._told.append((self._now(), lambda: complete(probe, understand()), ()))

    def seen(
        self,
        channel: str,
        text: str,
        viewer: RawPath | None,
        probe: str | None = None,
        how: str = "",
        conflict: bool = False,
    ) -> None:
        """A text was observed elsewhere than in a call's value."""
        self._told.append((self._now(), super().seen, (channel, text, viewer, probe, how, conflict)))

    def limited(self, what: str, probe: str | None = None) -> None:
        """A limit of the harness was hit."""
        self._told.append((self._now(), super().limited, (what, probe)))

    def history(self) -> History:
        """Everything that was told, redacted, each at the time it was told."""
        for stamp, record, told in self._told:
            self._stamp = stamp
            record(*told)
        self._told.clear()
        return super().history()
