"""Planting: who owns what in one world. The `mint` that a scenario's plan is handed."""

from __future__ import annotations

from partywall.canaries import DEFAULT_PREFIX, Canary, Keyring, Mint, Scope

from .operation import reach_of

_KINDS = {
    "append_turn": "message",
    "run_turn": "message",
    "add_memory": "memory",
    "put_fact": "fact",
    "put_artifact": "artifact",
}


class Planting:
    """Makes the scopes and canaries of one run; `seq` rises per owner, so a sighting names the placement.

    `nonce` stands before tenant ids (behind them, `tenant-1` were no prefix of `tenant-10`) on targets that keep
    what earlier runs planted: without it, a second run
    would read the first one's turns as phantoms.
    """

    def __init__(self, keyring: Keyring, nonce: str = "", prefix: str = DEFAULT_PREFIX) -> None:
        self._mint = Mint(keyring, prefix)
        self._nonce = nonce
        self._planted: dict[Scope, int] = {}

    def scope(self, tenant: str, user: str, session: str = "", task: str = "") -> Scope:
        """The scope of that name in this run."""
        return Scope(f"{self._nonce}-{tenant}" if self._nonce else tenant, user, session, task)

    def canary(self, owner: Scope, operation: str, layer: str = "") -> Canary:
        """A new canary of `owner`, to be planted by `operation`; a fact also names its layer."""
        seq = self._planted.get(owner, 0)
        self._planted[owner] = seq + 1
        return self._mint.canary(owner, reach_of(operation, layer), kind=_KINDS[operation], seq=seq)
