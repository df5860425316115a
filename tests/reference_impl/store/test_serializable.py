"""On a store whose writers run side by side, what a transaction has read still holds when it commits."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from partywall.canaries import Level
from partywall.reference_impl.append import Appended, Draft
from partywall.reference_impl.parts import Parts
from partywall.reference_impl.refusals import Conflict
from partywall.reference_impl.store.sessions import SqlSessions

from .layouts import ANN, Stored, settings_of, shares


@pytest.mark.services
def test_an_answer_whose_question_is_erased_between_its_look_and_its_commit_is_not_stored(tmp_path: Path) -> None:
    looked, erased = threading.Event(), threading.Event()

    class Paused(SqlSessions):
        def _stands(self, *given: Any) -> bool:
            stands = super()._stands(*given)
            looked.set()
            erased.wait(10)
            return stands

    with shares("postgres") as schema:
        stored = Stored(settings_of("postgres", tmp_path, schema), replace(Parts(), sessions=Paused))
        question = stored.append(ANN, "question")

        async def both() -> Appended | BaseException:
            answer = Draft("answer", "assistant", part="assistant", answers=question)
            answering = asyncio.create_task(stored.system.sessions.append(ANN, answer, 1))
            await asyncio.to_thread(looked.wait, 10)
            assert await stored.system.sessions.erase(ANN, Level.TASK) == 1
            erased.set()
            return (await asyncio.gather(answering, return_exceptions=True))[0]

        assert isinstance(stored.run(both()), Conflict)
        assert "answer" not in stored.texts(ANN)
        stored.close()
