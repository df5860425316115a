"""Reporter `history`: history.jsonl, what happened, so that it can be judged again offline.

This is the evidence file: it holds every canary whole, and what the target answered as it answered it. It is never
redacted or shortened; keep it as you would keep the target's own data.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...observe.history import History
from ...observe.journal import dump
from ..reporter import Reporter
from ..results import Results


def render(results: Results, histories: Sequence[History] = ()) -> str:
    """One JSON object a line, ASCII only."""
    return "".join(dump(histories))


REPORTER = Reporter("history", "history.jsonl", "what happened, whole: the file that `partywall judge` reads", render)
