"""Nothing of one scope is seen from another: not its content, not its existence, not its effects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .deployment import Deployment

ANN = ("acme", "ann", "s1", "k1")
ELSEWHERE = {
    "tenant": ("zeta", "ann", "s1", "k1"),
    "user": ("acme", "bob", "s1", "k1"),
    "session": ("acme", "ann", "s2", "k1"),
    "task": ("acme", "ann", "s1", "k2"),
}
# Which marks a scope that parts from ann's at this level may still see: what lives above it.
SHARED = {
    "tenant": set[str](),
    "user": set[str](),
    "session": {"memory", "userfact"},
    "task": {"memory", "userfact", "sessionfact"},
}
READS: dict[str, dict[str, Any]] = {
    "context": {"query": "markers"},
    "list_memories": {},
    "search_memory": {"query": "markers memoryzq"},
    "list_facts": {"include_superseded": True},
    "list_artifacts": {},
    "list_turns": {},
    "run_turn": {"text": "what are the markers?"},
    "cached_answer": {"query": "what are the markers?"},
}
MARKS = ("turn", "memory", "userfact", "sessionfact", "taskfact", "artifact")


def _sow(deployment: Deployment) -> None:
    deployment.value("append_turn", ANN, text="markers turnzq")
    deployment.value("add_memory", ANN, text="markers memoryzq")
    for layer in ("user", "session", "task"):
        deployment.value("put_fact", ANN, key=f"{layer} markers", value=f"{layer}factzq", layer=layer)
    deployment.value("put_artifact", ANN, name="artifactzq", text="artifactzq")


def _seen(text: str) -> set[str]:
    return {mark for mark in MARKS if f"{mark}zq" in text}


@pytest.mark.parametrize("level", list(ELSEWHERE))
@pytest.mark.parametrize("owner_first", [True, False])
def test_no_read_shows_what_another_scope_planted(reference: Deployment, level: str, owner_first: bool) -> None:
    _sow(reference)
    other = ELSEWHERE[level]
    order = [ANN, other, ANN] if owner_first else [other, ANN, other]
    seen: dict[tuple[str, ...], set[str]] = {ANN: set(), other: set()}
    for viewer in order:
        for name, body in READS.items():
            before = len(reference.prompts)
            found = json.dumps(reference.value(name, viewer, **body))
            prompts = " ".join(reference.prompts[before:])
            seen[viewer] |= _seen(prompts)
            # The turn listing belongs to the session: every task of it may read it.
            if not (name == "list_turns" and level == "task"):
                seen[viewer] |= _seen(found)
    assert seen[ANN] == set(MARKS)
    assert seen[other] <= SHARED[level]
    assert seen[other] == SHARED[level]


@pytest.mark.parametrize("level", ["tenant", "user"])
def test_the_word_that_only_ann_has_is_not_found(reference: Deployment, level: str) -> None:
    _sow(reference)
    assert reference.value("search_memory", ELSEWHERE[level], query="memoryzq") == []
    assert len(reference.value("search_memory", ANN, query="memoryzq")) == 1


def test_a_neighbours_volume_starves_nobody(reference: Deployment) -> None:
    for n in range(120):
        reference.value("add_memory", ELSEWHERE["tenant"], text=f"markers of the neighbour {n} markers")
    _sow(reference)
    assert [hit["text"] for hit in reference.value("search_memory", ANN, query="markers", limit=1)] == [
        "markers memoryzq"
    ]
    assert len(reference.value("list_memories", ELSEWHERE["tenant"])) == 120


def test_a_neighbours_words_do_not_move_the_order(reference: Deployment) -> None:
    for text in ("tea and milk", "coffee and sugar"):
        reference.value("add_memory", ANN, text=text)
    before = reference.value("search_memory", ANN, query="tea coffee")
    for n in range(30):
        reference.value("add_memory", ELSEWHERE["tenant"], text=f"tea {n}")
    assert reference.value("search_memory", ANN, query="tea coffee") == before


@pytest.mark.parametrize("name", ["get_memory", "delete_memory"])
def test_anothers_memory_reads_like_one_that_never_was(reference: Deployment, name: str) -> None:
    memory = reference.value("add_memory", ANN, text="mine")
    for level in ("tenant", "user"):
        theirs = reference.post(name, ELSEWHERE[level], memory_id=memory)
        never = reference.post(name, ELSEWHERE[level], memory_id="m" + "0" * 20)
        assert theirs.status_code == never.status_code == 404
        assert (theirs.content, theirs.headers) == (never.content, never.headers)
    assert reference.value("get_memory", ANN, memory_id=memory) == {"id": memory, "text": "mine"}


@pytest.mark.parametrize("level", ["tenant", "user"])
def test_a_foreign_scope_is_denied_alike_whether_it_exists(reference: Deployment, level: str) -> None:
    _sow(reference)
    other = ELSEWHERE[level]
    mine = reference.token(other[0], other[1])
    for name, body in [*READS.items(), ("append_turn", {"text": "x"}), ("purge", {"level": "user"})]:
        there = reference.post(name, ANN, mine, **body)
        nowhere = reference.post(name, ("acme", "nobody", "s9", "k9"), mine, **body)
        assert there.status_code == nowhere.status_code == 403
        assert (there.content, there.headers) == (nowhere.content, nowhere.headers)
    assert [turn["text"] for turn in reference.value("list_turns", ANN)] == ["markers turnzq"]


def test_equal_lower_ids_take_nothing_over(reference: Deployment) -> None:
    for level in ("tenant", "user", "session", "task"):
        _sow(reference)
        other = ELSEWHERE[level]
        reference.value("put_artifact", other, name="artifactzq", text="theirs")
        reference.value("put_fact", other, key="task markers", value="theirs", layer="task")
        assert reference.value("get_artifact", ANN, name="artifactzq") == "artifactzq"
        assert reference.value("get_fact", ANN, key="task markers")["value"] == "taskfactzq"


def test_a_sessions_own_canary_is_in_its_context_and_in_no_other(reference: Deployment) -> None:
    marks = {}
    for scope in (ANN, *ELSEWHERE.values()):
        reference.value("create_session", scope)
        (marks[scope],) = [line for line in reference.value("context", scope) if "session reference" in line]
    assert marks[ANN] == marks[ELSEWHERE["task"]]
    assert len(set(marks.values())) == 4


def test_an_id_tells_nothing_of_the_neighbours(reference: Deployment) -> None:
    first = reference.value("add_memory", ANN, text="mine")
    reference.value("purge", ANN, level="user")
    for n in range(5):
        reference.value("add_memory", ELSEWHERE["tenant"], text=f"theirs {n}")
    assert reference.value("add_memory", ANN, text="mine") == first


PAIRS = [
    (("acme", "u1"), ("acme", "u10")),
    (("t1", "ann"), ("t10", "ann")),
    (("acme", "u%"), ("acme", "u1")),
    (("acme", "u_"), ("acme", "u1")),
    (("acme", "*"), ("acme", "u1")),
    (("a:b", "c"), ("a", "b:c")),
    (("a|ub", "c"), ("a", "b|uc")),
    (("a/b", "c"), ("a", "b/c")),
    (("acme", "ann"), ("acme", "ANN")),
    (("acme", "é"), ("acme", "e\u0301")),
    (("acme", "u1"), ("acme", "ｕ１")),
    (("acme", "u1"), ("acme", "u1 ")),
    (("acme", "u\x00a"), ("acme", "u\x00b")),
    (("acme", ".."), ("acme", "../ann")),
    (("acme", "' OR '1'='1"), ("acme", "u1")),
    (("acme", "x" * 3000 + "1"), ("acme", "x" * 3000 + "2")),
    (("acme", "None"), ("acme", "null")),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_awkward_ids_share_nothing_read_search_or_purge(
    reference: Deployment, one: tuple[str, str], other: tuple[str, str]
) -> None:
    for owner, word in ((one, "wordone"), (other, "wordother")):
        at = (*owner, owner[1], owner[1])
        reference.value("append_turn", at, text=word)
        reference.value("add_memory", at, text=word)
        reference.value("put_fact", at, key="k", value=word, layer="task")
        reference.value("put_artifact", at, name=owner[1], text=word)
    for owner, word, foreign in ((one, "wordone", "wordother"), (other, "wordother", "wordone")):
        at = (*owner, owner[1], owner[1])
        seen = [reference.value(name, at, **READS[name]) for name in ("context", "list_memories", "list_turns")]
        seen += [reference.value("search_memory", at, query=f"{word} {foreign}")]
        seen += [reference.value("get_artifact", at, name=owner[1]), reference.value("list_facts", at)]
        assert word in json.dumps(seen)
        assert foreign not in json.dumps(seen)
    reference.value("purge", (*one, one[1], one[1]), level="user")
    at = (*other, other[1], other[1])
    assert len(reference.value("list_turns", at)) == len(reference.value("list_memories", at)) == 1
    assert reference.value("get_artifact", at, name=other[1]) == "wordother"
    assert reference.value("list_memories", one) == []
