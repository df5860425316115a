"""What every store owes the agent: sessions, facts, memories, artifacts, and their end."""

from __future__ import annotations

from dataclasses import replace

import pytest
from partywall.canaries import Level, Scope
from partywall.reference_impl.embedding import embed
from partywall.reference_impl.facts import Assertion
from partywall.reference_impl.layers import Layer
from partywall.reference_impl.refusals import ConcurrencyError, Conflict

from .layouts import ANN, ZOE, Stored

BOB = replace(ANN, user="bob")


def _sow(stored: Stored, scope: Scope, word: str) -> None:
    system = stored.system
    stored.append(scope, f"{word} turn", request_id="r1")
    for layer in Layer:
        claim = Assertion("colour", f'"{word} {layer.value}"', layer, system.clock.now(), 1)
        stored.run(system.facts.put(scope, claim))
    stored.run(system.memories.add(scope, f"{word} memory"))
    stored.run(system.artifacts.put(scope, "paper", f"{word} artifact"))


def _at_rest(stored: Stored) -> str:
    system = stored.system
    tables = (system.sessions, system.facts, system.memories, system.artifact_table)
    found = [stored.run(table.at_rest()) for table in tables] + [stored.run(system.memories.index_at_rest())]
    return "\n".join(text for each in found for text in (*each.contents, *each.keys))


def test_turns_are_numbered_and_read_in_order(stored: Stored) -> None:
    for seen, text in enumerate(("one", "two", "three")):
        assert stored.append(ANN, text, seen or None).turn == seen + 1
    assert stored.texts(ANN) == ["one", "two", "three"]
    assert [turn.text for turn in stored.run(stored.system.sessions.turns(ANN, 2))] == ["two", "three"]
    session = stored.run(stored.system.sessions.session(ANN))
    assert session is not None
    assert session.version == 3


def test_the_history_is_of_the_task_before_the_last_ones_are_taken(stored: Stored) -> None:
    other = replace(ANN, task="k2")
    stored.append(ANN, "mine")
    for seen in range(1, 5):
        stored.append(other, f"theirs {seen}", seen)
    assert [turn.text for turn in stored.run(stored.system.sessions.history(ANN, 2))] == ["mine"]


def test_a_stale_version_is_refused_and_nothing_is_written(stored: Stored) -> None:
    stored.append(ANN, "one")
    stored.append(ANN, "two", 1)
    with pytest.raises(ConcurrencyError) as refused:
        stored.append(ANN, "late", 1)
    assert (refused.value.expected, refused.value.actual) == (1, 2)
    with pytest.raises(ConcurrencyError):
        stored.append(ZOE, "no session yet", 4)
    assert stored.texts(ANN) == ["one", "two"]
    assert stored.texts(ZOE) == []


def test_a_request_id_gets_its_first_answer_and_takes_no_second_body(stored: Stored) -> None:
    first = stored.append(ANN, "one", request_id="r1")
    again = stored.append(ANN, "one", 1, request_id="r1")
    assert (again.turn, again.repeated, first.repeated) == (1, True, False)
    with pytest.raises(Conflict):
        stored.append(ANN, "another", 1, request_id="r1")
    assert stored.append(replace(ANN, session="s2"), "elsewhere", request_id="r1").turn == 1
    assert stored.texts(ANN) == ["one"]


def test_a_fact_is_superseded_and_never_overwritten(stored: Stored) -> None:
    facts = stored.system.facts
    for value in ("1", "2"):
        stored.run(facts.put(ANN, Assertion("n", value, Layer.TASK, 100.0 + int(value), None)))
    chain = stored.run(facts.chain(ANN, Layer.TASK, "n"))
    assert [(fact.value, fact.valid_from, fact.valid_to) for fact in chain] == [("1", 101.0, 102.0), ("2", 102.0, None)]
    assert stored.run(facts.carry(ANN, replace(ANN, session="s2"))) == 1
    assert stored.run(facts.delete(ANN, Layer.TASK, "n")) == 2
    assert stored.run(facts.chain(replace(ANN, session="s2"), Layer.TASK))[0].value == "2"


def test_memories_are_found_by_word_and_by_nearness_for_their_owner_alone(stored: Stored) -> None:
    memories = stored.system.memories
    mine = stored.run(memories.add(ANN, "the red Balloon, the RED balloon"))
    for other in (BOB, ZOE):
        stored.run(memories.add(other, "a balloon of another"))
    assert [chunk.chunk_id for chunk in stored.run(memories.match(ANN, ["balloon", "absent"]))] == [mine]
    assert [chunk.chunk_id for chunk in stored.run(memories.nearest(ANN, embed("red balloon"), 5))] == [mine]
    assert stored.run(memories.get(BOB, mine)) is None
    assert not stored.run(memories.delete(ZOE, mine))
    assert stored.run(memories.delete(ANN, mine))
    assert stored.run(memories.match(ANN, ["balloon"])) == []
    assert len(stored.run(memories.match(BOB, ["balloon"]))) == 1


def test_operator_views_show_every_tenant(stored: Stored) -> None:
    _sow(stored, ANN, "anns")
    _sow(stored, ZOE, "zoes")
    shown = _at_rest(stored)
    for word in ("anns", "zoes"):
        assert shown.count(word) >= 6
    assert {each.scope.tenant for each in stored.run(stored.system.sessions.everywhere())} == {"acme", "zeta"}


@pytest.mark.parametrize("level", list(Level))
def test_a_purge_takes_its_own_and_leaves_the_neighbours(stored: Stored, level: Level) -> None:
    neighbours = {
        Level.TENANT: ZOE,
        Level.USER: BOB,
        Level.SESSION: replace(ANN, session="s2"),
        Level.TASK: replace(ANN, task="k2"),
    }
    _sow(stored, ANN, "anns")
    other = neighbours[level]
    seen = 1 if level is Level.TASK else None
    stored.append(other, "kept turn", seen)
    stored.run(stored.system.artifacts.put(other, "paper", "kept artifact"))
    report = stored.run(stored.system.purge.run(ANN, level))
    assert report["done"]
    assert isinstance(report["removed"], dict)
    assert report["removed"]["main"] > 0
    shown = _at_rest(stored)
    assert "anns turn" not in shown
    assert ("anns memory" in shown) == (level > Level.USER)
    assert "kept turn" in stored.texts(other)
    assert stored.run(stored.system.artifacts.get(other, "paper")) == "kept artifact"


def test_a_tenant_that_was_dropped_is_gone_and_can_come_back(stored: Stored) -> None:
    _sow(stored, ANN, "anns")
    _sow(stored, ZOE, "zoes")
    dropped = stored.run(stored.system.database.drop("acme"))
    if dropped is None:  # shared tables cannot: the purge deletes row by row
        stored.run(stored.system.purge.run(ANN, Level.TENANT))
    else:
        assert dropped > 5
        assert stored.run(stored.system.database.drop("acme")) == 0
    assert "anns" not in _at_rest(stored)
    assert stored.texts(ZOE) == ["zoes turn"]
    assert stored.append(ANN, "again").turn == 1
    assert stored.texts(ANN) == ["again"]


def test_reading_where_nothing_is_leaves_nothing_behind(stored: Stored) -> None:
    stored.append(ZOE, "one")
    before = _at_rest(stored)
    assert stored.texts(ANN) == []
    assert stored.run(stored.system.sessions.session(ANN)) is None
    assert stored.run(stored.system.memories.match(ANN, ["one"])) == []
    assert _at_rest(stored) == before
    assert stored.run(stored.system.database.drop("acme")) in (0, None)
