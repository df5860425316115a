"""Golden histories of the check `claimed_identity`."""

from __future__ import annotations

from partywall.canaries import Canary, Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, OTHER_TENANT, World

_DENIED = Outcome("fail", reason="no such session", code="not_found")


def _world() -> tuple[World, dict[Scope, Canary]]:
    world = World(*EVERYTHING, authenticates=True)
    own = world.turns(ANN, OTHER_TENANT)
    for scope in (ANN, OTHER_TENANT):
        world.read("list_turns", scope, own[scope])
    return world, own


def refused() -> History:
    """Zeta claims ann's session and is refused; so is a caller without a credential, and one whose is expired."""
    world, _ = _world()
    world.call("list_turns", ANN, _DENIED, caller=OTHER_TENANT)
    world.call("list_turns", ANN, _DENIED, credential="none")
    world.call("list_turns", ANN, _DENIED, credential="expired")
    return world.history


def answered_from_the_callers_own() -> History:
    """The ids of the body are ignored: zeta is shown what is zeta's."""
    world, own = _world()
    world.read("list_turns", ANN, own[OTHER_TENANT], caller=OTHER_TENANT)
    return world.history


def write_lands_with_the_caller() -> History:
    """What zeta wrote under ann's ids stands with zeta."""
    world, own = _world()
    planted = world.write("append_turn", OTHER_TENANT, into=ANN, caller=OTHER_TENANT)
    world.read("list_turns", ANN, own[ANN])
    world.read("list_turns", OTHER_TENANT, own[OTHER_TENANT], planted)
    return world.history


def claim_believed() -> History:
    """Zeta's credential with ann's ids is shown ann's turns."""
    world, own = _world()
    world.read("list_turns", ANN, own[ANN], caller=OTHER_TENANT)
    return world.history


def no_credential_needed() -> History:
    """A caller without any credential is shown ann's turns."""
    world, own = _world()
    world.call("list_turns", ANN, Outcome("ok", [f"voucher {own[ANN].text}"]), credential="none")
    return world.history


def expired_credential_serves() -> History:
    """A credential that has expired still serves."""
    world, own = _world()
    world.call("list_turns", ANN, Outcome("ok", [f"voucher {own[ANN].text}"]), credential="expired")
    return world.history


def wrote_as_the_owner() -> History:
    """What zeta wrote under ann's ids stands with ann."""
    world, own = _world()
    planted = world.write("append_turn", OTHER_TENANT, into=ANN, caller=OTHER_TENANT)
    world.read("list_turns", ANN, own[ANN], planted)
    return world.history


def owner_is_not_served_either() -> History:
    """A target that serves nobody refuses the claim too."""
    world = World(*EVERYTHING, authenticates=True)
    world.turns(ANN)
    world.call("list_turns", ANN, _DENIED)
    world.call("list_turns", ANN, _DENIED, caller=OTHER_TENANT)
    return world.history


def limit_hit() -> History:
    """The claim was refused; an answer was too large to be read."""
    world, _ = _world()
    world.call("list_turns", ANN, _DENIED, caller=OTHER_TENANT)
    world.recorder.limited("context: answer larger than 8,000,000 characters")
    return world.history


def nobody_claimed() -> History:
    """Everybody asked for what is its own."""
    return _world()[0].history


def nobody_is_proved() -> History:
    """An adapter in this process takes any caller at its word: there is no claim to be believed."""
    world = World()
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.refused": refused,
    "held.answered_from_the_callers_own": answered_from_the_callers_own,
    "held.write_lands_with_the_caller": write_lands_with_the_caller,
    "violated.PW108-claim-believed": claim_believed,
    "violated.PW108-no-credential": no_credential_needed,
    "violated.PW108-expired-credential": expired_credential_serves,
    "violated.PW108-wrote-as-the-owner": wrote_as_the_owner,
    "inconclusive.owner_is_not_served_either": owner_is_not_served_either,
    "inconclusive.limit_hit": limit_hit,
    "not_covered.nobody_claimed": nobody_claimed,
    "not_covered.nobody_is_proved": nobody_is_proved,
}
