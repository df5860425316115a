"""The three layers of short-term memory, and the three questions that decide between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from partywall.canaries import Level, Scope


class Layer(StrEnum):
    """Where an entry lives. There is no fourth: team-wide rules are configuration."""

    SESSION = "session"
    TASK = "task"
    USER = "user"

    @property
    def level(self) -> Level:
        """The level whose ids own an entry of this layer."""
        return _LEVELS[self]

    def owner(self, scope: Scope) -> Scope:
        """The scope an entry written under `scope` belongs to; ScopeError where it lacks an id."""
        kept = scope.require(self.level).path[: self.level]
        return Scope(*kept)


_LEVELS = {Layer.USER: Level.USER, Layer.SESSION: Level.SESSION, Layer.TASK: Level.TASK}

NEAREST_FIRST = (Layer.TASK, Layer.SESSION, Layer.USER)


def visible(scope: Scope) -> tuple[Layer, ...]:
    """The layers that `scope` names the ids for, nearest first."""
    return tuple(layer for layer in NEAREST_FIRST if all(scope.path[: layer.level]))


@dataclass(frozen=True, slots=True)
class Holding:
    """The answers to the three questions about one entry."""

    in_another_task: bool
    in_another_session: bool
    wanted_for_good_and_changeable: bool


class Question(StrEnum):
    """What is asked of an entry, in this order."""

    TASK = "does it still hold in another task?"
    SESSION = "does it still hold in another session?"
    USER = "would the user want it for good, and can they see and change it?"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an entry belongs, None for nowhere; the question that decided it, and its answer.

    `misplaced` says what it does in a layer further out than its own, or kept at all where it belongs nowhere.
    """

    layer: Layer | None
    question: Question
    answer: bool
    misplaced: str


_FIRST_NO = {
    Question.TASK: (Layer.TASK, "it decides the user's other tasks, which were never asked"),
    Question.SESSION: (Layer.SESSION, "it is remembered where it was never said"),
    Question.USER: (None, "it works on every session, and its user can neither see nor change it"),
}


def place(holding: Holding) -> Placement:
    """Where an entry belongs: the first "no" wins; an entry without any is the user's."""
    answers = (holding.in_another_task, holding.in_another_session, holding.wanted_for_good_and_changeable)
    for question, answer in zip(Question, answers, strict=True):
        if not answer:
            layer, misplaced = _FIRST_NO[question]
            return Placement(layer, question, answer, misplaced)
    return Placement(Layer.USER, Question.USER, True, "it is asked for again in every session and every task")
