"""Stale commit: two requests read the same version; the second to commit must be refused, and must read again."""

from __future__ import annotations

from partywall.canaries import Scope

from ..observe.outcome import Outcome
from ._demo import Account, Demo
from ._stage import Stage, problem_of

SESSION = Scope("dogwood", "ann", "s1", "k1")
NOWHERE = Scope("dogwood", "ann", "never-opened", "k1")


async def run(stage: Stage, account: Account) -> None:
    """One version is read twice and committed to twice; then the loser re-reads, recomputes and commits."""
    reference = await stage.reference()
    await reference.value("append_turn", SESSION, text="budget: 100")
    read = [(await reference.value("session_info", SESSION))["version"] for _ in range(2)]
    account.tell(f"two requests read version {read[0]} and version {read[1]}")
    first = await reference.ask("append_turn", SESSION, text="spent 30, 70 left", expected_version=read[0])
    account.claim("the first commit is taken", first.status == "ok", first.reason)
    second = await reference.ask("append_turn", SESSION, text="spent 50, 50 left", expected_version=read[1])
    actual = (await reference.value("session_info", SESSION))["version"]
    account.claim(f"the second commit is refused: {_told(second)}", _refused(second, read[1], actual), second.status)
    texts = await reference.texts(SESSION)
    account.claim("nothing of it is stored", "spent 50, 50 left" not in texts, texts)
    third = await reference.ask("append_turn", SESSION, text="spent 50, 20 left", expected_version=actual)
    texts = await reference.texts(SESSION)
    account.claim(
        f"read again at version {actual} and recomputed, it is taken: {texts[-1]!r}",
        third.status == "ok" and texts == ["budget: 100", "spent 30, 70 left", "spent 50, 20 left"],
        texts,
    )
    missing = await reference.ask("append_turn", NOWHERE, text="too late", expected_version=actual)
    account.claim(
        f"a commit to a session that is not there is refused too: {_told(missing)}",
        _refused(missing, actual, None),
        missing.status,
    )


def _refused(outcome: Outcome, expected: int, actual: int | None) -> bool:
    """A conflict that names both versions."""
    problem = problem_of(outcome)
    named = {"expected", "actual"} <= set(problem) and (problem["expected"], problem["actual"]) == (expected, actual)
    return outcome.status == "fail" and outcome.code == "conflict" and named


def _told(outcome: Outcome) -> str:
    problem = problem_of(outcome)
    if "expected" not in problem:
        return outcome.code or f"it ended {outcome.status}"
    actual = "none" if problem.get("actual") is None else problem["actual"]
    return f"expected {problem['expected']}, actual {actual}"


DEMO = Demo(id="stale_commit", number=4, title="stale commit", run=run)
