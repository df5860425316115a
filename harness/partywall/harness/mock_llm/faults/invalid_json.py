"""The model's JSON is no JSON: arguments of a tool call are cut in the middle, a text is an object left open.

The finish still says `tool_calls` or `stop`: who trusts it, and not the arguments, acts on half a call.
"""

from ..fault import Case, Fault
from ..turn import ToolCall, Turn


def _turn(turn: Turn, case: Case) -> Turn:
    if turn.tool_calls:
        return turn._replace(tool_calls=tuple(_cut(call, case.mark) for call in turn.tool_calls))
    return turn._replace(text=f'{{"facts": ["{case.mark}", ]', refusal=None, finish="stop")


def _cut(call: ToolCall, mark: str) -> ToolCall:
    """Half the arguments and the mark: the object is never closed, so that no parser takes it."""
    half = call.arguments[: max(1, len(call.arguments) // 2)]
    return call._replace(arguments=half + mark)


FAULT = Fault(
    "invalid-json", "the content, or a tool call's arguments, is JSON that no parser takes", "text", turn=_turn
)
