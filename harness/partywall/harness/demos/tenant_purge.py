"""Tenant purge: five systems give up everything of one tenant, and nothing of the neighbour whose name it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from partywall.canaries import Scope

from ..plan import Identity
from ._demo import Account, Demo, counted
from ._stage import Deployment, Stage

LEAVER = Scope("ivy", "ann", "s1", "k1")
NEIGHBOUR = Scope("ivy-1", "ann", "s1", "k1")
SYSTEMS = 5


@dataclass(frozen=True, slots=True)
class Trace:
    """What places hold of one tenant: texts with one of its canaries, and keys that carry its id."""

    places: dict[str, int]

    @property
    def whole(self) -> bool:
        """Whether it stands in every place."""
        return all(self.places.values())


async def run(stage: Stage, account: Account) -> None:
    """Two tenants fill the store and its four replicas; one is purged; every place is looked at again."""
    reference = await stage.reference()
    marks = {scope: await _filled(stage, reference, scope) for scope in (LEAVER, NEIGHBOUR)}
    before = await _traces(reference, marks)
    account.claim(
        f"{len(before[LEAVER].places)} systems hold something of both tenants",
        len(before[LEAVER].places) == SYSTEMS and all(trace.whole for trace in before.values()),
        {scope.tenant: trace.places for scope, trace in before.items()},
    )
    admin = Identity(LEAVER.tenant, LEAVER.user, "admin")
    report = await reference.value("purge", LEAVER, admin, level="tenant")
    removed = _confirmed(report)
    after = await _traces(reference, marks)
    account.tell(f"  {'system':8} {'confirmed':>9}   {LEAVER.tenant + ' before, after':>18}   neighbour before, after")
    for place in before[LEAVER].places:
        ours = f"{before[LEAVER].places[place]}, {after[LEAVER].places.get(place, 0)}"
        theirs = f"{before[NEIGHBOUR].places[place]}, {after[NEIGHBOUR].places.get(place, 0)}"
        account.tell(f"  {place:8} {removed.get(place, '–'):>9}   {ours:>18}   {theirs:>23}")
    account.claim(
        f"{len(removed)} systems confirm",
        set(removed) == set(before[LEAVER].places) and report.get("done") is True,
        report,
    )
    left = {place: count for place, count in after[LEAVER].places.items() if count}
    account.claim(f"nothing of {LEAVER.tenant} is left in any of them", not left, left)
    account.claim(
        f"the neighbour {NEIGHBOUR.tenant} is kept whole",
        before[NEIGHBOUR].places == after[NEIGHBOUR].places,
        after[NEIGHBOUR].places,
    )
    await _read_back(account, reference, marks)


async def _filled(stage: Stage, deployment: Deployment, scope: Scope) -> tuple[str, ...]:
    """One canary by each way into a system; the answer is cached last, since a write drops it."""
    turn, memory, artifact = (
        stage.planting.canary(scope, op).text for op in ("append_turn", "add_memory", "put_artifact")
    )
    await deployment.value("append_turn", scope, text=f"My booking is {turn}.")
    await deployment.value("add_memory", scope, text=f"Booking {memory} is paid.")
    await deployment.value("put_artifact", scope, name="invoice.md", text=f"Invoice of {artifact}")
    await deployment.value("cached_answer", scope, query="Which booking is open?")
    return turn, memory, artifact


async def _traces(deployment: Deployment, marks: dict[Scope, tuple[str, ...]]) -> dict[Scope, Trace]:
    contents = await deployment.value("stored_bytes", LEAVER)
    keys = await deployment.value("stored_keys", LEAVER)
    return {
        scope: Trace(
            {
                place: sum(any(mark in str(text) for mark in marked) for text in texts)
                + sum(_carries(str(key), scope) for key in keys.get(place, ()))
                for place, texts in contents.items()
            }
        )
        for scope, marked in marks.items()
    }


def _carries(key: str, scope: Scope) -> bool:
    """Whether the tenant's segment of a key is this tenant's, and not only begins with it."""
    return key.startswith((f"t{scope.tenant}|", f"t{scope.tenant}/"))


def _confirmed(report: Any) -> dict[str, Any]:
    removed = report.get("removed") if isinstance(report, dict) else None
    return dict(removed) if isinstance(removed, dict) else {}


async def _read_back(account: Account, deployment: Deployment, marks: dict[Scope, tuple[str, ...]]) -> None:
    """What the two tenants see for themselves: the one nothing, the other all that it wrote."""
    for scope, (turn, memory, _) in marks.items():
        turns = [text for text in await deployment.texts(scope) if turn in text]
        found = await deployment.value("search_memory", scope, query="booking")
        memories = [item for item in found if memory in str(item)]
        wanted = 0 if scope is LEAVER else 1
        account.claim(
            f"{scope.tenant} finds {counted(len(turns), 'turn')} and {len(memories)} of its own memories",
            (len(turns), len(memories)) == (wanted, wanted),
            f"expected {wanted} and {wanted}",
        )


DEMO = Demo(id="tenant_purge", number=8, title="tenant purge", run=run)
