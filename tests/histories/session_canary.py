"""Golden histories of the check `session_canary`."""

from __future__ import annotations

from typing import Any

from partywall.canaries import Keyring, Mint, Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, KEY, World

UNWATCHED: dict[str, Any] = {"promises": {"session_canaries": True}}
PROMISED: dict[str, Any] = {**UNWATCHED, "watches": frozenset({"prompt"})}
MINT = Mint(Keyring.derive(KEY, "golden"))


def _asked(*prompts: str, limited: bool = False, capabilities: dict[str, Any] = PROMISED) -> History:
    """Ann says something; her one turn sends these prompts."""
    world = World(*EVERYTHING, **capabilities)
    world.turns(ANN)
    probe = world.call("run_turn", ANN, Outcome("ok", {"text": "All is well."}), text="What do you know?")
    for prompt in prompts:
        world.recorder.seen("prompt", prompt, ANN.path, probe, "sole")
    if limited:
        world.recorder.limited("the wiretap overflowed")
    return world.history


def _mark(session: str = "s1", kind: str = "session") -> str:
    return f"session reference: {MINT.token(Scope('acme', 'ann', session), kind)}"


def nobody_asked() -> History:
    """Turns were written, and no model was asked."""
    world = World(*EVERYTHING, **PROMISED)
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.in_the_prompt": lambda: _asked(_mark()),
    "held.one_of_two_prompts_is_its_context": lambda: _asked("sum up: nothing", _mark()),
    "violated.PW902-none": lambda: _asked("What do you know?"),
    "violated.PW902-a_canary_of_another_kind": lambda: _asked(_mark(kind="memory")),
    "inconclusive.no_prompt_was_caught": _asked,
    "inconclusive.limit_hit": lambda: _asked(_mark(), limited=True),
    "not_covered.nothing_promised": lambda: _asked("x", capabilities={"watches": frozenset({"prompt"})}),
    "not_covered.prompts_are_not_watched": lambda: _asked(capabilities=UNWATCHED),
    "not_covered.nobody_asked": nobody_asked,
}
