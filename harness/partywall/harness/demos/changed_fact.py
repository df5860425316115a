"""A changed fact: the new value closes the old one, so that a report of before can still be explained."""

from __future__ import annotations

from typing import Any

from partywall.canaries import Scope

from ._demo import Account, Demo
from ._stage import Deployment, NotShown, Stage

TASK = Scope("hazel", "ann", "s1", "report")
KEY = "region"
OLD, NEW = "by billing address", "by order address"


async def run(stage: Stage, account: Account) -> None:
    """A rule changes between two reports; both are made again from the facts of their instants."""
    reference = await stage.reference()
    await _put(reference, OLD)
    first = await _held(reference, None)
    await _put(reference, OLD)
    chain = await _chain(reference)
    account.claim(f"asserting {OLD!r} again makes no new version: there is {len(chain)}", len(chain) == 1, chain)
    await _report(reference, "before.md", first["valid_from"])
    await _put(reference, NEW)
    second = await _held(reference, None)
    await _report(reference, "after.md", second["valid_from"])
    chain = await _chain(reference)
    for fact in chain:
        until = "now" if fact["valid_to"] is None else _ago(fact["valid_to"], first)
        account.tell(
            f"  version {fact['version']}: {fact['value']!r} from {_ago(fact['valid_from'], first)} to {until}"
        )
    whole = [fact["value"] for fact in chain] == [OLD, NEW] and chain[0]["superseded_by"] == chain[1]["version"]
    account.claim("nothing is overwritten: the old version is closed and points to the new one", whole, chain)
    if not whole:
        return
    opened, changed = chain[0]["valid_from"], chain[1]["valid_from"]
    account.claim("the old one ends in the instant the new one begins", chain[0]["valid_to"] == changed, chain[0])
    for when, at, expected in (
        ("a second before the first", opened - 1, None),
        ("when the first began", opened, OLD),
        ("half-way", (opened + changed) / 2, OLD),
        ("in the instant of the change", changed, NEW),
        ("a second later", changed + 1, NEW),
    ):
        fact = await _held(reference, at)
        value = fact.get("value")
        account.measure(f"as of {when}: {value or 'nothing'}", f"as of {when}: {expected or 'nothing'}")
    for name, at in (("before.md", opened), ("after.md", changed)):
        kept = await reference.value("get_artifact", TASK, name=name)
        made = await _text(reference, at)
        account.claim(f"{name} made again from the facts of its instant is the same: {made!r}", kept == made, kept)


async def _put(deployment: Deployment, value: str) -> None:
    await deployment.value("put_fact", TASK, key=KEY, value=value, layer="task")


async def _held(deployment: Deployment, at: float | None) -> dict[str, Any]:
    """The version that held at an instant; empty where none did."""
    arguments: dict[str, Any] = {} if at is None else {"at": at}
    fact = await deployment.value("get_fact", TASK, key=KEY, **arguments)
    return _record(fact) if fact is not None else {}


async def _chain(deployment: Deployment) -> list[dict[str, Any]]:
    facts = await deployment.value("list_facts", TASK, include_superseded=True)
    return [_record(fact) for fact in facts]


def _record(fact: Any) -> dict[str, Any]:
    wanted = {"value", "version", "valid_from", "valid_to", "superseded_by"}
    if not isinstance(fact, dict) or not wanted <= set(fact):
        raise NotShown("versions: the target's facts do not say since when and until when they hold")
    return fact


async def _report(deployment: Deployment, name: str, at: float) -> None:
    await deployment.value("put_artifact", TASK, name=name, text=await _text(deployment, at))


async def _text(deployment: Deployment, at: float) -> str:
    facts = await deployment.value("list_facts", TASK, at=at)
    return "Turnover " + ", ".join(str(_record(fact)["value"]) for fact in facts)


def _ago(instant: float, first: dict[str, Any]) -> str:
    return f"+{instant - first['valid_from']:.3f} s"


DEMO = Demo(id="changed_fact", number=7, title="a changed fact", run=run)
