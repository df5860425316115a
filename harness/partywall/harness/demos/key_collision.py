"""Key collision: one question, one key, two tenants; and the key that keeps them apart."""

from __future__ import annotations

from partywall.canaries import Scope

from ._demo import Account, Demo, counted
from ._stage import Deployment, NotShown, Stage

QUESTION = "Which order is open?"
OWNER = Scope("acme", "ann", "s1", "k1")
SCOPES = (
    OWNER,
    Scope("zeta", "ann", "s1", "k1"),
    Scope("acme", "bob", "s1", "k1"),
    Scope("acme", "ann", "s2", "k1"),
    Scope("acme", "ann", "s1", "k2"),
)
"""The owner, and for each level one scope that parts from it there and agrees in every other id."""
_ON_THE_WAY = {"pretrieval", "prerank"}
"""Purposes of what is kept beside an answer: the searches that it rests on."""
ORDERS = {scope: f"A-100{number}" for number, scope in enumerate(SCOPES, 1)}


async def run(stage: Stage, account: Account) -> None:
    """Two tenants ask a cache that is keyed by the question alone; then five scopes ask one that is keyed by scope."""
    faulty = await stage.faulty()
    account.tell(f"two tenants ask {QUESTION!r}; the cache is keyed by the question alone ({stage.faulty_name}):")
    given, keys = await _asked(account, faulty, SCOPES[:2])
    account.measure(f"{counted(len(keys), 'key')} for 2 tenants", "1 key for 2 tenants")
    foreign = ORDERS[OWNER]
    account.claim(
        f"the collision shows: {SCOPES[1].tenant} is given {OWNER.tenant}'s order {foreign}",
        given[SCOPES[1]] == [foreign],
        given[SCOPES[1]],
    )
    account.tell("the cure: scope first, then purpose and fingerprint; five scopes ask the same:")
    given, keys = await _asked(account, await stage.reference(), SCOPES)
    mixed = [f"{_named(scope)} was given {seen}" for scope, seen in given.items() if seen != [ORDERS[scope]]]
    account.claim("each scope is given its own order and no other", not mixed, ", ".join(mixed))
    parts = [key.rpartition("|") for key in keys]
    prefixes, fingerprints = {prefix for prefix, _, _ in parts}, {fingerprint for _, _, fingerprint in parts}
    account.measure(
        f"{len(keys)} keys, {len(prefixes)} prefixes, {counted(len(fingerprints), 'fingerprint')}",
        f"{len(SCOPES)} keys, {len(SCOPES)} prefixes, 1 fingerprint",
    )


async def _asked(
    account: Account, deployment: Deployment, scopes: tuple[Scope, ...]
) -> tuple[dict[Scope, list[str]], list[str]]:
    """The orders that each scope's answer names, and the keys that the answers were kept under."""
    for scope in scopes:
        await deployment.value("append_turn", scope, text=f"My open order is {ORDERS[scope]}.")
    before = await _keys(deployment)
    given = {}
    for scope in scopes:
        answer = str(await deployment.value("cached_answer", scope, query=QUESTION))
        given[scope] = [order for order in ORDERS.values() if order in answer]
        account.tell(f"  {_named(scope)} is given {', '.join(given[scope]) or 'nothing'}")
    keys = [key for key in await _keys(deployment) if key not in before]
    for key in keys:
        account.tell(f"  key {key}")
    return given, keys


async def _keys(deployment: Deployment) -> list[str]:
    places = await deployment.value("stored_keys", OWNER)
    if "cache" not in places:
        raise NotShown("the target's stored_keys has no place 'cache'")
    return [key for key in map(str, places["cache"]) if not _ON_THE_WAY & set(key.split("|"))]


def _named(scope: Scope) -> str:
    return "/".join(scope.path)


DEMO = Demo(id="key_collision", number=1, title="key collision and its cure", run=run)
