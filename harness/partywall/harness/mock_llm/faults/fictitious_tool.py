"""The model calls a tool that does not exist, and that nobody offered."""

import json

from ..fault import Case, Fault
from ..turn import ToolCall, Turn

NAME = "erase_all_memories"


def _turn(turn: Turn, case: Case) -> Turn:
    call = ToolCall(f"call_{case.mark}", NAME, json.dumps({"user": "everyone", "reason": case.mark}))
    return turn._replace(text=None, tool_calls=(call,), refusal=None, finish="tool_calls")


FAULT = Fault("fictitious-tool", "the model calls a tool that does not exist", "tool", turn=_turn)
