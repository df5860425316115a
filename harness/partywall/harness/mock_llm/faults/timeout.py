"""The request is taken and never answered; a client without a deadline of its own waits for ever."""

from ..fault import Case, Fault
from ..frames import Frames, Stall


def _frames(frames: tuple[bytes, ...], case: Case) -> Frames:
    return (Stall(),)


FAULT = Fault("timeout", "the provider accepts the request and never answers", "transport", frames=_frames)
