"""Context assembly: what one scope's model call may see, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from partywall.canaries import Scope

from .canary_watch import CanaryWatch
from .facts import Fact
from .layers import visible
from .retrieval import Retrieval
from .session_context import SessionContext
from .store import FactTable, SessionTable
from .store.contract import Turn

INSTRUCTION = "You are a careful assistant. What you know about this conversation:"


@dataclass(frozen=True, slots=True)
class Assembled:
    """The background snippets and the recent turns of one scope."""

    background: tuple[str, ...]
    history: tuple[Turn, ...]

    def snippets(self) -> list[str]:
        """Everything as lines of text, background first."""
        return [*self.background, *(f"{turn.role}: {turn.text}" for turn in self.history)]

    def conversation(self, question: str | None = None) -> SessionContext:
        """The messages of a model call; `question` is asked last where it is no turn itself."""
        system = "\n".join([INSTRUCTION, *(f"- {snippet}" for snippet in self.background)])
        asked = [] if question is None else [{"role": "user", "content": question}]
        spoken = [{"role": turn.role, "content": turn.text} for turn in self.history if turn.text]
        return SessionContext([{"role": "system", "content": system}, *spoken, *asked])


class Assembler:
    """Puts together the session's mark, facts of the three layers, memories and the task's recent turns."""

    def __init__(
        self,
        sessions: SessionTable,
        facts: FactTable,
        retrieval: Retrieval,
        watch: CanaryWatch,
        turns: int = 20,
        memories: int = 8,
    ) -> None:
        self._sessions = sessions
        self._facts = facts
        self._retrieval = retrieval
        self._watch = watch
        self._turns = turns
        self._memories = memories

    async def assemble(self, scope: Scope, query: str, up_to: int | None = None) -> Assembled:
        """The context of `scope` for `query`, with history up to turn number `up_to`."""
        background = await self.background(scope, query)
        history = await self.history(scope, up_to)
        assembled = Assembled(tuple(background), tuple(history))
        self._watch.look(scope, assembled.snippets())
        return assembled

    async def background(self, scope: Scope, query: str) -> list[str]:
        """The session's mark, the facts that hold now, the memories that bear on the query."""
        found: list[str] = []
        session = await self._sessions.session(scope) if scope.session else None
        if session is not None and session.mark is not None:
            found.append(f"session reference: {session.mark}")
        for layer in visible(scope):
            chain = await self._facts.chain(scope, layer)
            found += [_sentence(fact) for fact in chain if fact.valid_to is None]
        found += [f"memory: {chunk.text}" for chunk in await self._retrieval.recall(scope, query, self._memories)]
        return found

    async def history(self, scope: Scope, up_to: int | None) -> Sequence[Turn]:
        """The task's last turns."""
        return await self._sessions.history(scope, self._turns, up_to) if scope.session else []


def _sentence(fact: Fact) -> str:
    return f"{fact.layer} fact: {fact.name} = {fact.value}"
