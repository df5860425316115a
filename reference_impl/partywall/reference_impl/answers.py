"""Cached answers: the model is called once for a question, per scope."""

from __future__ import annotations

from partywall.canaries import Level, Scope

from .cache import Cache
from .context import Assembler
from .keys import Key, Keys
from .llm import ChatModel

PURPOSE = "answer"


class Answers:
    """Answers a question from one scope's context and cites what it rests on.

    An answer lives in the cache until anything of its scope changes; it is no turn of the session.
    """

    def __init__(self, keys: Keys, cache: Cache, assembler: Assembler, model: ChatModel) -> None:
        self._keys = keys
        self._cache = cache
        self._assembler = assembler
        self._model = model

    def key(self, scope: Scope, question: str) -> Key:
        """Whose answer to which question."""
        return self._keys.cache(scope, PURPOSE, {"question": question})

    async def answer(self, scope: Scope, question: str) -> str:
        """The cached answer, or a new one. Raises ModelFailure; a failure is never cached."""
        key = self.key(scope, question)
        cached = await self._cache.get(scope, key)
        if cached is not None:
            return cached
        since = await self._cache.generation(scope)
        assembled = await self._assembler.assemble(scope, question)
        reply = await self._model.chat(assembled.conversation(question))
        sources = assembled.snippets()
        text = "\n- ".join([f"{reply}\n\nBased on:", *sources]) if sources else reply
        await self._cache.put(scope, key, text, since)
        return text

    async def changed(self, scope: Scope, level: Level) -> None:
        """Drop the answers that rested on something at or below `level` of the scope."""
        await self._cache.drop(scope, level)
