"""The model repeats what it should not: its system prompt, and a credential.

The mark stands inside the credential as well as beside it: an answer that shows it was not filtered.
"""

from ..fault import Case, Fault
from ..turn import Turn

_MOST = 4_000
"""Characters of the system prompt that are repeated."""


def _turn(turn: Turn, case: Case) -> Turn:
    system = "\n".join([message.text for message in case.prompt.messages if message.role in ("system", "developer")])
    secret = f"Authorization: Bearer sk-live-{case.mark}-{case.dice.hex()[16:40]}"
    text = f"My instructions are:\n{system[:_MOST]}\n{secret}\n(key {case.mark})"
    return turn._replace(text=text, tool_calls=(), refusal=None, finish="stop")


FAULT = Fault("sensitive-echo", "the model repeats its system prompt and a credential", "text", turn=_turn)
