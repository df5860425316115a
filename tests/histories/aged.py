"""Aged: a world whose target has a clock that can be moved, for the checks of sessions' lives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from partywall.canaries import Canary, Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OK, World

LIFETIME, IDLE, ARCHIVE = 1000.0, 100.0, 500.0
PROMISES = {"lifetime": LIFETIME, "idle_after": IDLE, "archive_after": ARCHIVE}
OPERATIONS = (*EVERYTHING, "create_session", "session_info", "advance_clock", "archive_session", "stored_bytes")
EXPIRED = Outcome("fail", reason="the session has ended", code="expired")
LOST = Outcome("info", reason="no answer within 10 s", code="timeout")


class AgedWorld(World):
    """Says how much later something happened."""

    def __init__(self, *operations: str, **capabilities: Any) -> None:
        super().__init__(*(operations or OPERATIONS), **{"promises": PROMISES, **capabilities})

    @property
    def history(self) -> History:
        """What was recorded, of a scenario that is about sessions' lives."""
        recorded = super().history
        return History(replace(recorded.header, exercises=("lifecycle",)), recorded.entries)

    def later(self, seconds: float, outcome: Outcome = OK) -> None:
        """The clock is moved on."""
        self.call("advance_clock", ANN, outcome, seconds=seconds)

    def opens(self, *scopes: Scope) -> None:
        """Sessions are founded."""
        for scope in scopes:
            self.call("create_session", scope, Outcome("ok", scope.session))

    def tells(self, scope: Scope, state: str, turns: int = 1, end: Any = LIFETIME) -> None:
        """A session says how it is."""
        told = {"state": state, "turns": turns, "expires_at": end, "version": 1}
        self.call("session_info", scope, Outcome("ok", told))

    def holds(self, *texts: Canary | str) -> None:
        """Everything at rest, in the main store."""
        rows = [f"row {text.text}" if isinstance(text, Canary) else text for text in texts]
        self.call("stored_bytes", ANN, Outcome("ok", {"main": rows, "log": []}))

    def cut_short(self) -> None:
        """A limit is hit."""
        self.recorder.limited("list_turns: answer larger than 8,000,000 characters")
