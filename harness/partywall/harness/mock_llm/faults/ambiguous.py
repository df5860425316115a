"""The model decides nothing: two labels of equal confidence, and one that is no label."""

import json

from ..fault import Case, Fault
from ..turn import Turn


def _turn(turn: Turn, case: Case) -> Turn:
    labels = ["remember", "forget"] if case.dice[0] % 2 else ["forget", "remember"]
    decision = {
        "label": "maybe",
        "candidates": [{"label": label, "confidence": 0.5} for label in labels],
        "case": case.mark,
    }
    return turn._replace(text=json.dumps(decision), tool_calls=(), refusal=None, finish="stop")


FAULT = Fault("ambiguous", "the model gives two labels of equal confidence", "text", turn=_turn)
