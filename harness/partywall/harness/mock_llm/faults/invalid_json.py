"""The model's text is JSON that no parser takes: an open object with a trailing comma."""

from ..fault import Case, Fault
from ..turn import Turn


def _turn(turn: Turn, case: Case) -> Turn:
    return turn._replace(text='{"facts": ["a", ]', tool_calls=(), refusal=None, finish="stop")


FAULT = Fault("invalid-json", "the content is invalid JSON text", "text", turn=_turn)
