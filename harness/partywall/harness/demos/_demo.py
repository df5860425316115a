"""Demo: a numbered demonstration, and the account that it gives of what happened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from partywall.canaries import redact_tokens

from ..errors import unknown
from ..exits import Exit
from ..registry import discover
from ._stage import NotShown, Stage

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a demonstration says of its run, whether it was so, and what was found where it was not."""

    words: str
    passed: bool
    found: str = ""


class Account:
    """Takes down what happened, line by line; `claims` and `missing` are what it comes to.

    No line holds a whole canary: each is shortened to six hex digits that name it.
    """

    def __init__(self, say: Say = lambda line: None) -> None:
        self.claims: list[Claim] = []
        self.missing: list[str] = []
        self._say = say

    @property
    def exit(self) -> Exit:
        """Held where everything claimed was so; one that claims nothing, or leaves something out, has not shown it."""
        if not all(claim.passed for claim in self.claims):
            return Exit.VIOLATED
        return Exit.INCONCLUSIVE if self.missing or not self.claims else Exit.HELD

    def tell(self, line: str) -> None:
        """What happened."""
        self._say(redact_tokens(f"   {line}"))

    def claim(self, words: str, passed: bool, found: object = "") -> None:
        """`words` hold of this run, or do not: then `found` says what was seen instead."""
        told = redact_tokens(str(found))
        self.claims.append(Claim(redact_tokens(words), passed, told))
        self.tell(f"✔ {words}" if passed else f"✘ {words}" + (f"; found {told}" if told else ""))

    def measure(self, found: str, expected: str) -> None:
        """The figures of this run are the expected ones."""
        if found == expected:
            self.claim(found, True)
        else:
            self.claim(expected, False, found)

    def not_shown(self, what: str) -> None:
        """`what` belongs to the demonstration and could not be shown: that is neither a pass nor a violation."""
        self.missing.append(redact_tokens(what))
        self.tell(f"not shown: {what}")


@dataclass(frozen=True, slots=True)
class Demo:
    """`run(stage, account)` carries it out; whatever it prints it has seen in that run."""

    id: str
    number: int
    title: str
    run: Callable[[Stage, Account], Awaitable[None]]


def counted(number: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def demos() -> tuple[Demo, ...]:
    """All known demonstrations, in their order."""
    found = discover("partywall.harness.demos", "DEMO", "partywall.demos")
    return tuple(sorted(found.values(), key=lambda demo: (demo.number, demo.id)))


def demo_named(name: str) -> Demo:
    """The demonstration of that number or id; UsageError naming the known ones otherwise."""
    known = {key: demo for demo in demos() for key in (str(demo.number), demo.id)}
    if name not in known:
        raise unknown("demo", name, known)
    return known[name]


async def perform(demo: Demo, stage: Stage, say: Say = lambda line: None) -> Account:
    """Carry out one demonstration, its title first. Raises TargetError where its deployment cannot be opened, or is
    gone."""
    account = Account(say)
    say(f"{demo.number}. {demo.title}")
    try:
        await demo.run(stage, account)
    except NotShown as lack:
        account.not_shown(str(lack))
    return account
