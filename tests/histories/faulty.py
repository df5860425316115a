"""Faulty: one history of turns whose model failed, for the checks that judge them."""

from __future__ import annotations

from typing import Any

from partywall.canaries import Canary, Scope
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OTHER_TENANT, World

MARK = "flt0123456789abc"
SAID = f'{{"facts": ["{MARK}", ]'
DEGRADED = {"text": "I cannot answer right now.", "llm_used": False, "guidance": {"type": "model_output_invalid"}}
CHAT = {"text": "All is well.", "llm_used": True, "guidance": None}
REFUSED = Outcome("fail", reason="HTTP 429", code="limited")
FELL_OVER = Outcome("info", reason="HTTP 500: internal error", code="http_500")
UNAVAILABLE = Outcome("info", reason="HTTP 503: the model gave no answer", code="http_503")
LATE = Outcome("info", reason="no answer within 10 s", code="timeout")


class FaultyWorld(World):
    """Ann and another tenant have written; turns are struck, looked at, and healed."""

    def __init__(self, *operations: str, **capabilities: Any) -> None:
        chosen = operations or (*EVERYTHING, "side_effects")
        super().__init__(*chosen, **{"watches": frozenset({"prompt"}), **capabilities})
        self.own: dict[Scope, Canary] = self.turns(ANN, OTHER_TENANT)
        self.memory = self.write("add_memory", ANN)
        self.stored: list[Any] = [{"id": "m1", "text": f"We have voucher {self.memory.text}."}]
        self.ledger: list[Any] = [{"tool": "remember", "count": 1}]

    def asks(
        self,
        scope: Scope,
        outcome: Outcome,
        *,
        attempts: int = 0,
        delivered: bool = True,
        fault: str = "invalid-json",
        prompts: int = 1,
        shown: str = "",
    ) -> str:
        """A turn of `scope`, `attempts` of whose `prompts` were struck."""
        own = self.own[scope].text
        probe = self.call("run_turn", scope, outcome, text="What do you know?")
        for _ in range(prompts):
            self.recorder.seen("prompt", f"voucher {own} {shown}".strip(), scope.path, probe, "sole")
        for _ in range(attempts):
            self.recorder.faulted(fault, delivered, probe, "call 1", SAID, MARK)
        return probe

    def struck(self, outcome: Outcome | None = None, **more: Any) -> str:
        """A turn of Ann's with every answer faulty, degraded where nothing else is said."""
        return self.asks(ANN, outcome or Outcome("ok", DEGRADED), **{"attempts": more.get("prompts", 1), **more})

    def heals(self, *scopes: Scope, shown: str = "") -> None:
        """A healthy turn of each scope."""
        for scope in scopes or (ANN, OTHER_TENANT):
            text = f"We have voucher {self.own[scope].text}. {shown}"
            self.asks(scope, Outcome("ok", {**CHAT, "text": text}), shown=shown)

    def looks(self) -> None:
        """Ann's memories and the ledger, as they stand."""
        self.call("list_memories", ANN, Outcome("ok", list(self.stored)))
        self.call("side_effects", ANN, Outcome("ok", list(self.ledger)))
