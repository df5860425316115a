"""Two tasks in one session: a "yes" meant for one job must not be the confirmation of the other."""

from __future__ import annotations

from partywall.canaries import Scope

from ._demo import Account, Demo
from ._stage import Stage

REFUND = Scope("birch", "ann", "s1", "refund")
REPORT = Scope("birch", "ann", "s1", "report")
QUESTION = "What was agreed?"
SAID = (
    (REFUND, "Refund order B-2001?"),
    (REPORT, "Send report R-7 to the board?"),
    (REFUND, "Yes, refund it."),
    (REPORT, "No, not yet."),
)


async def run(stage: Stage, account: Account) -> None:
    """Turns of two tasks alternate; each task's context, and its answer, is asked for."""
    reference = await stage.reference()
    for scope, text in SAID:
        await reference.value("append_turn", scope, text=text)
        account.tell(f"{scope.session}/{scope.task} says: {text}")
    unfiltered = await reference.texts(REFUND)
    account.claim(
        f"the session's own listing mixes both: {len(unfiltered)} turns, of 2 tasks",
        unfiltered == [text for _, text in SAID],
        unfiltered,
    )
    for scope in (REFUND, REPORT):
        own = [text for task, text in SAID if task == scope]
        others = [text for task, text in SAID if task != scope]
        context = "\n".join(await reference.value("context", scope, query=QUESTION))
        _claim(account, f"the context of {scope.task}", context, own, others)
    for scope in (REFUND, REPORT):
        own = [text for task, text in SAID if task == scope]
        others = [text for task, text in SAID if task != scope]
        answer = str(await reference.value("cached_answer", scope, query=QUESTION))
        _claim(account, f"the answer to {scope.task}", answer, own, others)


def _claim(account: Account, what: str, text: str, own: list[str], others: list[str]) -> None:
    kept = sum(said in text for said in own)
    strays = [said for said in others if said in text]
    found = f"{kept} of its own and {', '.join(map(repr, strays)) or 'nothing'} of the other's"
    account.claim(
        f"{what} holds its own {len(own)} turns and none of the other's", kept == len(own) and not strays, found
    )


DEMO = Demo(id="two_tasks", number=2, title="same session, two tasks", run=run)
