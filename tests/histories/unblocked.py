"""Golden histories of the check `unblocked`."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome
from partywall.harness.plan import Call, Identity, Probe

from .faulty import CHAT, DEGRADED, REFUSED, FaultyWorld
from .world import ANN, OK, OTHER_SESSION


class StalledWorld(FaultyWorld):
    """A tenth of a second passes from entry to entry: Ann's turn waits for its model while others write."""

    tick = 100_000_000

    def sends(self, op: str, scope: Scope) -> Probe:
        """A call that has not ended."""
        name = f"q{next(self._count)}"
        call = Call(op, Identity.of(scope), scope, {"text": f"one more {name}"})
        probe = Probe(name, f"{scope.session}/{name}", call)
        self.recorder.invoked(probe, probe.call, probe.client)
        return probe

    def ends(self, probe: Probe, outcome: Outcome = OK) -> None:
        """It has ended."""
        self.recorder.completed(probe.id, outcome)

    def asks_the_model(self) -> Probe:
        """Ann's turn, as far as its prompt; the model does not answer."""
        turn = self.sends("run_turn", ANN)
        self.recorder.seen("prompt", f"voucher {self.own[ANN].text}", ANN.path, turn.id, "sole")
        return turn

    def gives_up(self, turn: Probe, outcome: Outcome | None = None) -> None:
        """The turn ends without the model."""
        self.recorder.faulted("timeout", True, turn.id, "call 1", "", "")
        self.ends(turn, outcome or Outcome("ok", DEGRADED))

    def passes(self, scope: Scope, number: int = 8) -> None:
        """Appends that end at once."""
        for _ in range(number):
            self.ends(self.sends("append_turn", scope))


def _waited(stuck: int = 0, here: int = 8, elsewhere: int = 8, refused: bool = False, limited: bool = False) -> History:
    world = StalledWorld()
    turn = world.asks_the_model()
    waiting = [world.sends("append_turn", ANN) for _ in range(stuck)]
    world.passes(ANN, here)
    world.passes(OTHER_SESSION, elsewhere)
    for _ in range(12):  # the model is silent for a while more
        world.recorder.seen("headers", "nothing", ANN.path)
    world.gives_up(turn)
    for probe in waiting:
        world.ends(probe, REFUSED if refused else OK)
    if limited:
        world.recorder.limited("the wiretap overflowed")
    return world.history


def sent_just_before_the_end() -> History:
    """The last append was sent a moment before the turn ended: it waited for nothing but its own time."""
    world = StalledWorld()
    turn = world.asks_the_model()
    world.passes(ANN)
    world.passes(OTHER_SESSION)
    last = world.sends("append_turn", ANN)
    world.gives_up(turn)
    world.ends(last)
    return world.history


def one_was_slow() -> History:
    """One append ended after the turn did, and others of its session went through: no lock was held."""
    world = StalledWorld()
    early = world.sends("append_turn", ANN)
    turn = world.asks_the_model()
    world.passes(ANN)
    world.passes(OTHER_SESSION)
    world.gives_up(turn)
    world.ends(early)
    return world.history


def all_before_the_model_was_asked() -> History:
    """Whoever wrote to the session beside the turn had written before the model was asked."""
    world = StalledWorld()
    turn = world.sends("run_turn", ANN)
    world.passes(ANN)
    world.recorder.seen("prompt", f"voucher {world.own[ANN].text}", ANN.path, turn.id, "sole")
    world.passes(OTHER_SESSION)
    world.gives_up(turn)
    return world.history


def answered_at_once() -> History:
    """The model failed before anybody could have waited for it."""
    world = StalledWorld()
    turn = world.asks_the_model()
    world.gives_up(turn)
    world.passes(ANN)
    return world.history


def no_fault() -> History:
    """Nobody asked for a fault."""
    world = StalledWorld()
    turn = world.asks_the_model()
    world.passes(ANN)
    world.ends(turn, replace(OK, value=CHAT))
    return world.history


HISTORIES = {
    "held.both_sessions_took_writes": _waited,
    "held.sent_just_before_the_end": sent_just_before_the_end,
    "held.one_was_slow": one_was_slow,
    "violated.PW224-stuck": lambda: _waited(stuck=2, here=0),
    "violated.PW224-refused_at_last": lambda: _waited(stuck=2, here=0, refused=True),
    "inconclusive.everybody_waited": lambda: _waited(stuck=2, here=0, elsewhere=0),
    "inconclusive.all_before_the_model_was_asked": all_before_the_model_was_asked,
    "inconclusive.limit_hit": lambda: _waited(limited=True),
    "not_covered.answered_at_once": answered_at_once,
    "not_covered.no_fault": no_fault,
    "not_covered.nobody_wrote_here": lambda: _waited(here=0),
}
