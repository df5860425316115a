"""The answer is right and comes a second late: what was true when the question was asked need not be any more."""

from ..fault import Case, Fault
from ..frames import Frames, Sleep

_LATE = 1.0
"""Seconds; long beside a store's write, short beside a client's patience with its model."""


def _frames(frames: tuple[bytes, ...], case: Case) -> Frames:
    return (Sleep(_LATE), *frames)


FAULT = Fault("late", "the model answers as it should, a second late", "none", frames=_frames)
