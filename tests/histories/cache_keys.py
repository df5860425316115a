"""Golden histories of the check `cache_keys`."""

from __future__ import annotations

from collections.abc import Sequence

from partywall.canaries import Canary
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import Outcome

from .world import ANN, EVERYTHING, World

ABOUT = ("Is anything due for the gazebo?", "Is anything due for the boathouse?")


def _searched(
    first: Sequence[int],
    again: Sequence[int],
    *,
    earlier: Sequence[int] = (0, 1, 2),
    just_before: Sequence[int] | None = None,
    limit: int = 20,
    context: bool = False,
    deleted: bool = False,
    limited: bool = False,
) -> History:
    """Three memories are found; the user writes; by another search `first` are found, and, where it is given, by yet
    another `just_before`; the user writes; the same search finds `again`."""
    world = World(*EVERYTHING, "delete_memory")
    stored = [world.write("add_memory", ANN, outcome=Outcome("ok", f"m{n}")) for n in range(3)]

    def found(numbers: Sequence[int], query: str, most: int = 20) -> None:
        shown: list[Canary] = [stored[number] for number in numbers]
        world.read("search_memory", ANN, *shown, query=query, limit=most)

    found(earlier, "reference")
    world.write("append_turn", ANN)
    if just_before is not None:
        found(just_before, "voucher")
    if context:
        world.read("context", ANN, stored[0], query="booking reference")
    found(first, "booking reference", limit)
    world.write("append_turn", ANN)
    if deleted:
        world.call("delete_memory", ANN, Outcome("ok"), memory_id="m0")
    found(again, "booking reference", limit)
    if limited:
        world.recorder.limited("search_memory: answer larger than 8,000,000 characters")
    return world.history


def _answered(first: str, second: str, *, said: str = "") -> History:
    """Two questions that differ in a word are answered so."""
    world = World()
    world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    if said:
        world.call("append_turn", ANN, Outcome("ok"), text=said)
    for question, answer in zip(ABOUT, (first, second), strict=True):
        world.read("cached_answer", ANN, answer, query=question)
    return world.history


def nobody_asked() -> History:
    """Nothing was asked twice."""
    world = World()
    memory = world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    world.read("search_memory", ANN, memory, query="booking")
    return world.history


def no_search() -> History:
    """The target finds nothing and answers nothing."""
    world = World("append_turn", "add_memory", "list_memories")
    world.turns(ANN)
    return world.history


HISTORIES = {
    "held.the_same_again": lambda: _searched((0, 1, 2), (0, 1, 2), context=True),
    "held.ranked_away_by_its_limit": lambda: _searched((0,), (1,), limit=1, context=True),
    "held.a_poor_search": lambda: _searched((0,), (0, 1, 2)),
    "held.indexed_later": lambda: _searched((0,), (0, 1, 2), earlier=(0,), just_before=(0,), context=True),
    "held.answers_follow_their_questions": lambda: _answered("Nothing for the gazebo.", "Nothing for the boathouse."),
    "violated.PW803-another_search": lambda: _searched((2,), (0, 1, 2), just_before=(2,)),
    "violated.PW803-another_answer": lambda: _answered("Nothing for the gazebo.", "Nothing for the gazebo."),
    "violated.PW804-after_a_context": lambda: _searched((0,), (0, 1, 2), context=True),
    "inconclusive.finds_nothing": lambda: _searched((), ()),
    "inconclusive.limit_hit": lambda: _searched((0, 1, 2), (0, 1, 2), limited=True),
    "not_covered.deleted_in_between": lambda: _searched((0, 1, 2), (1, 2), deleted=True),
    "not_covered.dull_answers": lambda: _answered("I cannot say.", "I cannot say."),
    "not_covered.the_word_was_known": lambda: _answered(
        "Nothing for the gazebo.", "Nothing for the gazebo.", said="the gazebo and the boathouse need paint"
    ),
    "not_covered.nobody_asked": nobody_asked,
    "not_covered.no_search": no_search,
}
