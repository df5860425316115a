"""Cached answers: the model is called once for a question, per scope."""

from __future__ import annotations

from partywall.canaries import Level, Scope

from .caches import Caches, Purpose
from .context import Assembler
from .keys import Key
from .llm import ChatModel


class Answers:
    """Answers a question from one scope's context and cites what it rests on.

    An answer lives in the cache until anything of its scope changes; it is no turn of the session.
    """

    def __init__(self, caches: Caches, assembler: Assembler, model: ChatModel) -> None:
        self._caches = caches
        self._assembler = assembler
        self._model = model

    def key(self, scope: Scope, question: str) -> Key:
        """Whose answer to which question."""
        return self._caches.key(scope, Purpose.RESPONSE, {"question": question})

    async def answer(self, scope: Scope, question: str) -> str:
        """The cached answer, or a new one. Raises ModelFailure; a failure is never cached."""

        async def made() -> str:
            assembled = await self._assembler.assemble(scope, question)
            reply = await self._model.chat(assembled.conversation(question))
            sources = assembled.snippets()
            return "\n- ".join([f"{reply}\n\nBased on:", *sources]) if sources else reply

        return await self._caches.through(scope, self.key(scope, question), made)

    async def spoke(self, scope: Scope) -> None:
        """Drop the answers that did not know the scope's last turn."""
        await self._caches.spoke(scope)

    async def changed(self, scope: Scope, level: Level) -> None:
        """Drop what rested on something at or below `level` of the scope."""
        await self._caches.changed(scope, level)
