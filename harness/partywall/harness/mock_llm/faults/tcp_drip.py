"""The answer starts and never ends: blank bytes drip in, so that no read time-out ever fires."""

from collections.abc import Iterator

from ..fault import Case, Fault
from ..frames import Frame, Frames, Sleep

_PAUSE = 0.5
"""Seconds between two drops; shorter than any client's read time-out."""


def _frames(frames: tuple[bytes, ...], case: Case) -> Frames:
    return _drip(case.prompt.stream)


def _drip(stream: bool) -> Iterator[Frame]:
    kind = b"text/event-stream; charset=utf-8" if stream else b"application/json"
    yield b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ntransfer-encoding: chunked\r\n\r\n" % kind
    drop = b":\n\n" if stream else b" "
    while True:
        yield Sleep(_PAUSE)
        yield b"%x\r\n%b\r\n" % (len(drop), drop)


FAULT = Fault("tcp.drip", "the answer drips in for ever", "transport", frames=_frames)
