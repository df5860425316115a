"""M12: the answer cache is keyed by the question alone."""

from __future__ import annotations

from dataclasses import replace

from partywall.canaries import Scope

from ..answers import Answers
from ..keys import Key, fingerprint
from .seeded import Mutant


class QuestionOnly(Answers):
    """cache[question]."""

    def key(self, scope: Scope, question: str) -> Key:
        return Key("h" + fingerprint({"question": question}))


MUTANT = Mutant(
    id="M12",
    title="answer cache without principal",
    caught_by=frozenset({"PW101"}),
    seen_in="cached_answer: the first to ask a question answers it for everybody",
    build=lambda parts: replace(parts, answers=QuestionOnly),
)
